#include "core/pattern/catalog.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/pattern/builder.h"
#include "core/pattern/launch_options.h"
#include "core/pattern/plan.h"
#include "core/pattern/transpose.h"
#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

// On every GPU. Source: CUDA Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::uint64_t constant_bytes = 64 << 10;

void require_between(const Plan& plan, std::uint64_t least, std::uint64_t most, const char* what) {
    if (plan.value < least || plan.value > most)
        throw UsageError(
            fmt::format("{} {}: {} are {} to {}", plan.pattern, plan.value, what, least, most));
}

void require_fits(const Plan& plan, std::uint64_t elements, std::uint64_t most_bytes,
                  const char* memory) {
    const std::uint64_t bytes = checked_product(elements, bytes_of(plan.type), "the array");
    if (bytes > most_bytes)
        throw UsageError(fmt::format("{} {}: takes {} bytes of {} memory, which has {}",
                                     plan.pattern, plan.value, bytes, memory, most_bytes));
}

Program lane_program(const Plan& plan, Space space, const LaneGrid& grid, std::uint64_t elements) {
    const std::uint64_t n = element_count(plan);
    return program_of(
        plan,
        {.formula = grid, .elements = elements, .threads = n, .active_threads = n, .space = space});
}

Program make_shared_stride(const Plan& plan) {
    const std::uint64_t elements =
        checked_sum(checked_product(warp_lanes - 1, plan.value, "the tile"), 1, "the tile");
    require_fits(plan, elements, shared_bytes_of_block, "shared");
    return lane_program(plan, Space::shared, {.rows = warp_lanes, .pitch = plan.value, .step = 0},
                        elements);
}

// Its columns: 32, or 16 if chosen. Throws UsageError for any other.
std::uint64_t shared_pad_tile(const PatternOptions& options) {
    const std::uint64_t columns = options.tile.value_or(32);
    if (columns != 16 && columns != 32)
        throw UsageError(fmt::format("--tile {}: a tile has 16 or 32 columns", columns));
    return columns;
}

Program make_shared_pad(const Plan& plan) {
    const std::uint64_t columns = shared_pad_tile(plan.options);
    const std::uint64_t pitch = checked_sum(columns, plan.value, "a row");
    const std::uint64_t elements = checked_product(columns, pitch, "the tile");
    require_fits(plan, elements, shared_bytes_of_block, "shared");
    return lane_program(plan, Space::shared, {.rows = columns, .pitch = pitch, .step = 1},
                        elements);
}

Program make_shared_broadcast(const Plan& plan) {
    require_between(plan, 1, warp_lanes, "groups of lanes");
    return lane_program(plan, Space::shared, {.rows = plan.value, .pitch = 0, .step = 1},
                        (warp_lanes - 1) / plan.value + 1);
}

Program make_shared_random(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    const std::uint64_t elements = elements_in(plan, plan.value, "a region");
    require_fits(plan, elements, shared_bytes_of_block, "shared");
    return program_of(plan, {.formula = Scatter{elements, plan.options.seed},
                             .elements = elements,
                             .threads = n,
                             .active_threads = n,
                             .space = Space::shared});
}

Program make_constant(const Plan& plan) {
    require_between(plan, 1, warp_lanes, "addresses of a warp");
    require_fits(plan, plan.value, constant_bytes, "constant");
    return lane_program(plan, Space::constant, {.rows = plan.value, .pitch = 1, .step = 0},
                        plan.value);
}

Program make_local(const Plan& plan) {
    require_between(plan, 1, warp_lanes, "indices of a warp");
    return lane_program(plan, Space::local, {.rows = plan.value, .pitch = 1, .step = 0},
                        plan.value);
}

// The multiple to which cudaMallocPitch rounds rows up on the devices seen (an H200 among them); a
// device that is present is asked instead.
constexpr std::uint64_t usual_pitch_alignment_bytes = 512;

// cudaMalloc starts every allocation at a multiple of 256 bytes: separately allocated rows lie at
// such places.
constexpr std::uint64_t allocation_alignment_bytes = 256;

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

void require_positive(const Plan& plan, const char* what, const char* instead) {
    if (plan.value == 0)
        throw UsageError(fmt::format("{} 0: {} start at 1{}", plan.pattern, what, instead));
}

Program make_offset(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    return program_of(plan, {.formula = Offset{plan.value},
                             .elements = checked_sum(n, plan.value, "the array"),
                             .threads = n,
                             .active_threads = n});
}

Program make_stride(const Plan& plan) {
    require_positive(plan, "strides", "; for one element read by all, see `coalprof broadcast`");
    const std::uint64_t n = element_count(plan);
    return program_of(
        plan, {.formula = Stride{plan.value},
               .elements = checked_sum(checked_product(n - 1, plan.value, "the array"), 1, "it"),
               .threads = n,
               .active_threads = n});
}

using LaneOrder = std::array<std::uint32_t, warp_lanes>;

LaneOrder shuffled_lanes(std::uint64_t seed, std::uint64_t which) {
    LaneOrder order;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) order[lane] = lane;
    for (std::uint32_t left = warp_lanes; left > 1; --left) {  // Fisher and Yates
        const std::uint64_t word = Scatter::mixed(seed * warp_lanes + left + (which << 32));
        std::swap(order[left - 1], order[word % left]);
    }
    return order;
}

LaneOrder lane_order(const Plan& plan) {
    const std::string& name = plan.options.order;
    if (name == "shuffle") return shuffled_lanes(plan.options.seed, plan.value);
    if (plan.value >= warp_lanes)
        throw UsageError(fmt::format("permute {}: a warp has 32 lanes, so --order {} takes 0 to 31",
                                     plan.value, name));
    const auto k = static_cast<std::uint32_t>(plan.value);
    LaneOrder order;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if (name == "reversed") {
            order[lane] = (warp_lanes - 1 - lane + k) % warp_lanes;
        } else if (name == "xor") {
            order[lane] = lane ^ k;
        } else if (name == "rotate") {
            order[lane] = (lane + k) % warp_lanes;
        } else {
            throw UsageError(
                unknown_word("lane order", name, find_launch_option("order")->words()));
        }
    }
    return order;
}

Program make_permute(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    Permute formula;
    const LaneOrder order = lane_order(plan);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) formula.set(lane, order[lane]);
    return program_of(plan, {.formula = formula,
                             .elements = rounded_up(n, warp_lanes),
                             .threads = n,
                             .active_threads = n});
}

Program make_scatter(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    const std::uint64_t elements = elements_in(plan, plan.value, "a region");
    return program_of(plan, {.formula = Scatter{elements, plan.options.seed},
                             .elements = elements,
                             .threads = n,
                             .active_threads = n});
}

Program make_broadcast(const Plan& plan) {
    require_positive(plan, "groups of lanes", "");
    const std::uint64_t n = element_count(plan);
    return program_of(plan, {.formula = Groups{plan.value},
                             .elements = (n - 1) / plan.value + 1,
                             .threads = n,
                             .active_threads = n});
}

// The number of members of the plan's type in a structure of `value` bytes; checks --member.
std::uint64_t member_count(const Plan& plan) {
    const std::uint64_t members = elements_in(plan, plan.value, "a structure");
    if (plan.options.member >= members)
        throw UsageError(fmt::format(
            "--member {}: a structure of {} bytes has {} {} member{}, "
            "counted from 0",
            plan.options.member, plan.value, members, name_of(plan.type), members == 1 ? "" : "s"));
    return members;
}

Program make_aos(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    const std::uint64_t members = member_count(plan);
    return program_of(plan, {.formula = Stride{members, plan.options.member},
                             .elements = checked_product(n, members, "the array"),
                             .threads = n,
                             .active_threads = n});
}

Program make_soa(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    const std::uint64_t members = member_count(plan);
    checked_product(n, members, "the arrays");
    return program_of(plan, {.formula = Offset{n * plan.options.member},
                             .elements = n * (plan.options.member + 1),
                             .threads = n,
                             .active_threads = n});
}

// Elements from one row to the next, for rows of plan.value bytes.
std::uint64_t pitch_elements(const Plan& plan) {
    const PatternOptions& options = plan.options;
    std::uint64_t pitch_bytes = plan.value;
    if (options.pitch == "auto") {
        pitch_bytes =
            options.auto_pitch_bytes.value_or(rounded_up(plan.value, usual_pitch_alignment_bytes));
    } else if (options.pitch != "none") {
        // A number without a unit counts elements, of the point's type.
        const bool has_unit = options.pitch.find_first_not_of("0123456789") != std::string::npos;
        pitch_bytes = has_unit
                          ? options.pitch_bytes
                          : checked_product(options.pitch_bytes, bytes_of(plan.type), "the pitch");
        if (pitch_bytes < plan.value)
            throw UsageError(fmt::format("--pitch {}: {} bytes are less than a row of {} bytes",
                                         options.pitch, pitch_bytes, plan.value),
                             "plain numbers are elements; with a unit they are bytes: 4KiB, 4096B");
    }
    return elements_in(plan, pitch_bytes, "a pitch");
}

std::uint64_t rows_of(const Plan& plan) {
    if (plan.shape.size_bytes >= plan.value) return plan.shape.size_bytes / plan.value;
    throw UsageError(fmt::format("--size {}: smaller than one row of {} bytes",
                                 size_as_typed(plan.shape), plan.value));
}

Program make_row(const Plan& plan) {
    const std::uint64_t columns = elements_in(plan, plan.value, "a row");
    const std::uint64_t rows = rows_of(plan);
    const std::uint64_t row_threads = rounded_up(columns, warp_lanes);
    const std::uint64_t pitch = pitch_elements(plan);
    return program_of(plan, {.formula = Rows{columns, row_threads, pitch},
                             .elements = checked_sum(checked_product(rows - 1, pitch, "the matrix"),
                                                     columns, "the matrix"),
                             .threads = checked_product(rows, row_threads, "the launch"),
                             .active_threads = rows * columns,
                             .contiguous = Rows{columns, row_threads, columns}});
}

Program make_column(const Plan& plan) {
    const std::uint64_t columns = elements_in(plan, plan.value, "a row");
    // Whole warps to a column: no warp crosses from one column to the next.
    const std::uint64_t rows = plan.shape.size_bytes / plan.value / warp_lanes * warp_lanes;
    if (rows == 0)
        throw UsageError(
            fmt::format("--size {}: a matrix with rows of {} bytes has fewer than 32 "
                        "rows; choose a larger --size",
                        size_as_typed(plan.shape), plan.value));
    const std::uint64_t pitch = pitch_elements(plan);
    return program_of(plan, {.formula = Columns{rows, pitch},
                             .elements = checked_sum(checked_product(rows - 1, pitch, "the matrix"),
                                                     columns, "the matrix"),
                             .threads = rows * columns,
                             .active_threads = rows * columns});
}

Program make_indirect(const Plan& plan) {
    const std::uint64_t columns = elements_in(plan, plan.value, "a row");
    const std::uint64_t rows = rows_of(plan);
    const std::uint64_t pitch =
        rounded_up(plan.value, allocation_alignment_bytes) / bytes_of(plan.type);
    return program_of(plan, {.formula = Rows{columns, columns, pitch},
                             .elements = checked_product(rows, pitch, "the matrix"),
                             .threads = rows * columns,
                             .active_threads = rows * columns,
                             .table = Groups{columns},
                             .table_elements = rows});
}

std::string from_width(std::uint32_t width) {
    return fmt::format("{}..{}:{}", width, width * 16, width);
}
std::string doubled_width(std::uint32_t width) {
    return fmt::format("{}..{}*2", width, width * 16);
}
// About a thousand elements: whole lines, whole sectors, and neither.
std::string straddling_rows(std::uint32_t width) {
    return fmt::format("{}B,{}B,{}B,{}B,{}B", width * 1000, width * 1001, width * 1002,
                       width * 1004, width * 1024);
}
std::string powers_to_page(std::uint32_t width) {
    return fmt::format("{}B..4096B*2", width < 32 ? 32 : width);
}
constexpr std::uint64_t small_bytes = 4ull << 20;
// clang-format off
constexpr std::array catalog{
    PatternInfo{"offset", "a[i + offset]", "offset", "elements", Op::rmw,
        "What a misaligned start costs: one more sector per warp, unless the offset is a multiple of 32 bytes.", "",
        [](std::uint32_t) -> std::string { return "0..32"; }, make_offset},
    PatternInfo{"stride", "a[i * stride]", "stride", "elements", Op::rmw,
        "What gaps between neighbouring threads cost: each sector fetched carries fewer useful bytes.", "",
        [](std::uint32_t) -> std::string { return "1..32"; }, make_stride},
    PatternInfo{"permute", "a[i with its lane reordered]", "permutation", "", Op::load,
        "The order of the lanes within a warp costs nothing: only the set of sectors counts.", "--order --seed",
        [](std::uint32_t) -> std::string { return "0,1,16,31"; }, make_permute},
    PatternInfo{"scatter", "a[random(i) % elements]", "region_bytes", "bytes", Op::load,
        "Random access: up to 32 sectors per warp, unless the region is so small that lanes meet.", "--seed",
        [](std::uint32_t) -> std::string { return "128..4194304*2"; }, make_scatter, false, "", "", small_bytes},
    PatternInfo{"broadcast", "a[i / lanes]", "lanes", "lanes", Op::load,
        "Lanes that read one element share its sector: fewer sectors, and no more than the distinct ones.", "",
        [](std::uint32_t) -> std::string { return "1..32*2"; }, make_broadcast},
    PatternInfo{"aos", "a[i].member", "struct_bytes", "bytes", Op::load,
        "One member of an array of structures: the other members come along in every sector.", "--member",
        from_width, make_aos},
    PatternInfo{"soa", "member[i]", "struct_bytes", "bytes", Op::load,
        "The same member in an array of its own: contiguous whatever the size of the structure.", "--member",
        doubled_width, make_soa},
    PatternInfo{"row", "a[row * pitch + column]", "row_bytes", "bytes", Op::load,
        "Rows whose length is no multiple of a line start misaligned and straddle lines; a pitch fixes it.", "--pitch",
        straddling_rows, make_row, true,
        "Threads go along the rows, one row after the other, and each row has whole warps: lanes beyond its end are off, so that its last warp may ask for less and sectors per request fall (compare sectors, or load_lines). "
        "Blocks hold --block threads and end anywhere in a row. A block for each row is a formula: coalprof formula 'a[blockIdx.x*1000 + threadIdx.x]' --block 1000 --grid 65536"},
    PatternInfo{"column", "a[row * pitch + column], threads down a column", "row_bytes", "bytes", Op::load,
        "Threads that go down a column touch one sector each.", "--pitch",
        powers_to_page, make_column, true,
        "Threads go down the columns, one column after the other, each of a multiple of 32 rows. Blocks hold --block threads and end anywhere in a column."},
    PatternInfo{"transpose", "b[column * height + row] = a[row * width + column]", "width", "elements", Op::copy,
        "A naive transpose stores down columns; tiles turned in shared memory keep both sides coalesced; padding or a swizzle parts their columns over the banks. The matrix has as many rows as --size holds: 4096 x 4096 floats are --size 64MiB.", "--variant --tile",
        [](std::uint32_t) -> std::string { return "256..4096*4"; }, make_transpose, false, "", "variant"},
    PatternInfo{"indirect", "rows[i / columns][i % columns]", "row_bytes", "bytes", Op::load,
        "A table of row pointers: every access is two instructions, the pointer's and the element's.", "",
        powers_to_page, make_indirect, true},
    PatternInfo{"shared-stride", "tile[lane * stride]", "stride", "elements", Op::load,
        "Shared memory has 32 banks: strides that share a factor with 32 send lanes to the same bank.", "",
        [](std::uint32_t) -> std::string { return "1..33"; }, make_shared_stride, false, "", "", small_bytes},
    PatternInfo{"shared-pad", "tile[row * (columns + padding) + column], down a column", "padding", "elements", Op::load,
        "A column of a tile lies in one bank; one word of padding to each row spreads it over all.", "--tile",
        [](std::uint32_t) -> std::string { return "0..4"; }, make_shared_pad, false, "", "", small_bytes},
    PatternInfo{"shared-broadcast", "tile[lane / lanes]", "lanes", "lanes", Op::load,
        "Lanes that read one word share it: no conflict, however many they are.", "",
        [](std::uint32_t) -> std::string { return "1..32*2"; }, make_shared_broadcast, false, "", "", small_bytes},
    PatternInfo{"shared-random", "tile[random(i) % elements]", "region_bytes", "bytes", Op::load,
        "Random words: about three to four lanes meet in the fullest bank.", "--seed",
        [](std::uint32_t) -> std::string { return "128..32768*4"; }, make_shared_random, false, "", "", small_bytes},
    PatternInfo{"constant", "table[lane % addresses]", "addresses", "lanes", Op::load,
        "Constant memory serves one address at a time: a warp with k addresses takes k passes.", "",
        [](std::uint32_t) -> std::string { return "1..32*2"; }, make_constant},
    PatternInfo{"local", "own[lane % indices]", "indices", "lanes", Op::load,
        "Each thread's own array is interleaved: one index in all lanes is one line, k indices are k.", "",
        [](std::uint32_t) -> std::string { return "1..32*2"; }, make_local},
};
// clang-format on

}  // namespace

std::span<const PatternInfo> pattern_catalog() { return catalog; }

const PatternInfo* known_pattern(std::string_view name) {
    const auto found = std::ranges::find(catalog, name, &PatternInfo::name);
    return found != catalog.end() ? &*found : nullptr;
}

const PatternInfo& find_pattern(std::string_view name) {
    if (const PatternInfo* known = known_pattern(name)) return *known;
    std::array<std::string_view, catalog.size()> names;
    std::ranges::transform(catalog, names.begin(), &PatternInfo::name);
    throw UsageError(unknown_word("pattern", name, names));
}

LaunchShape launch_shape(std::string_view pattern, const PatternOptions& options, ElementType type,
                         const LaunchShape& asked) {
    if (asked.block == 0 || asked.block > 1024)
        throw UsageError(fmt::format("--block {}: a block has 1 to 1024 threads", asked.block));
    if (asked.per_thread == 0 || asked.per_thread > 64)
        throw UsageError(fmt::format("--per-thread {}: choose 1 to 64 elements", asked.per_thread));
    LaunchShape shape = asked;
    if (pattern == "transpose") shape.per_thread = transpose_per_thread(options, type, asked);
    return shape;
}

std::optional<std::uint64_t> padded_row_elements(const Plan& plan) {
    if (plan.pattern == "transpose") return padded_tile_row(plan.options, plan.type);
    const bool has_rows = plan.pattern == "row" || plan.pattern == "column";
    if (!has_rows || plan.options.pitch == "none") return std::nullopt;
    return pitch_elements(plan);
}

std::optional<std::uint64_t> tile_columns(std::string_view pattern, const PatternOptions& options,
                                          ElementType type) {
    if (pattern == "transpose") return transpose_tile(options, type);
    if (pattern == "shared-pad") return shared_pad_tile(options);
    return std::nullopt;
}

void build_program(Plan& plan) {
    plan.shape = launch_shape(plan.pattern, plan.options, plan.type, plan.shape);
    plan.program = find_pattern(plan.pattern).make(plan);
    for (Instruction& instruction : plan.program.instructions)
        instruction.type =
            is_pointer_load(plan.program, instruction) ? ElementType::u64 : plan.type;
}

}  // namespace coalprof
