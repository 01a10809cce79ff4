#include "core/sweep/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/formula/formula.h"
#include "core/formula/launch_check.h"
#include "core/pattern/builder.h"
#include "core/pattern/launch_options.h"
#include "core/sweep/transpose.h"
#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

constexpr std::uint64_t small_bytes = 4ull << 20;
// clang-format off
constexpr std::array catalog{
    PatternInfo{.name = "offset", .formula = "a[i + offset]", .parameter = "offset", .unit = "elements", .default_op = Op::rmw,
        .teaches = "What a misaligned start costs: one more sector per warp, unless the offset is a multiple of 32 bytes.",
        .range = "0..32", .index = "i + offset"},
    PatternInfo{.name = "stride", .formula = "a[i * stride]", .parameter = "stride", .unit = "elements", .default_op = Op::rmw,
        .teaches = "What gaps between neighbouring threads cost: each sector fetched carries fewer useful bytes.",
        .range = "1..32", .index = "i*stride",
        .limits = {.least = 1, .what = "strides", .instead = "; for one element read by all, see `coalprof broadcast`"}},
    PatternInfo{.name = "permute", .formula = "a[i with its lane reordered]", .parameter = "permutation", .unit = "", .default_op = Op::load,
        .teaches = "The order of the lanes within a warp costs nothing: only the set of sectors counts.",
        .range = "0,1,16,31", .index = "i - l + ((l*factor + first ^ flips) & 31)", .parts = "l = i%32; ",
        .shuffled_index = "i - l + ((l < 12)*lanes_0 + (l/12 == 1)*lanes_12 + (l >= 24)*lanes_24 >> l%12*5 & 31)",
        .array_elements = "(n + 31)/32*32", .options = "--order --seed"},
    PatternInfo{.name = "scatter", .formula = "a[random(i) % elements]", .parameter = "region_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "Random access: up to 32 sectors per warp, unless the region is so small that lanes meet.",
        .range = "128..4194304*2", .index = "hash(i, elements, seed)",
        .options = "--seed", .holds_elements = "a region", .default_size_bytes = small_bytes},
    PatternInfo{.name = "broadcast", .formula = "a[i / lanes]", .parameter = "lanes", .unit = "lanes", .default_op = Op::load,
        .teaches = "Lanes that read one element share its sector: fewer sectors, and no more than the distinct ones.",
        .range = "1..32*2", .index = "i/lanes", .limits = {.least = 1, .what = "groups of lanes"}},
    PatternInfo{.name = "aos", .formula = "a[i].member", .parameter = "struct_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "One member of an array of structures: the other members come along in every sector.",
        .range = "{1}..{16}:{1}", .index = "i*elements + member", .array_elements = "n*elements",
        .options = "--member", .holds_elements = "a structure"},
    PatternInfo{.name = "soa", .formula = "member[i]", .parameter = "struct_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "The same member in an array of its own: contiguous whatever the size of the structure.",
        .range = "{1}..{16}*2", .index = "n*member + i", .options = "--member", .holds_elements = "a structure"},
    PatternInfo{.name = "row", .formula = "a[row * pitch + column]", .parameter = "row_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "Rows whose length is no multiple of a line start misaligned and straddle lines; a pitch fixes it.",
        // About a thousand elements: whole lines, whole sectors, and neither.
        .range = "{1000}B,{1001}B,{1002}B,{1004}B,{1024}B",
        .index = "i/lanes*pitch + i%lanes", .parts = "lanes = (elements + 31)/32*32; ", .condition = "i%lanes < elements",
        .contiguous = "i/lanes*elements + i%lanes", .threads = "size/row_bytes * ((elements + 31)/32*32)",
        .options = "--pitch", .holds_elements = "a row", .too_small = "--size {0}: smaller than one row of {1} bytes", .typed_in_elements = true,
        .mapping = "Threads go along the rows, one row after the other, and each row has whole warps: lanes beyond its end are off, so that its last warp may ask for less and sectors per request fall (compare sectors, or load_lines). "
        "Blocks hold --block threads and end anywhere in a row. A block for each row is a formula: coalprof formula 'a[blockIdx.x*1000 + threadIdx.x]' --block 1000 --grid 65536"},
    PatternInfo{.name = "column", .formula = "a[row * pitch + column], threads down a column", .parameter = "row_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "Threads that go down a column touch one sector each.",
        // Whole warps to a column: no warp crosses from one column to the next.
        .range = "32B..4096B*2", .index = "i%rows*pitch + i/rows", .parts = "rows = n/elements; ", .threads = "size/row_bytes/32*32 * elements",
        .options = "--pitch", .holds_elements = "a row",
        .too_small = "--size {0}: a matrix with rows of {1} bytes has fewer than 32 rows; choose a larger --size", .typed_in_elements = true,
        .mapping = "Threads go down the columns, one column after the other, each of a multiple of 32 rows. Blocks hold --block threads and end anywhere in a column."},
    PatternInfo{.name = "transpose", .formula = "b[column * height + row] = a[row * width + column]", .parameter = "width", .unit = "elements", .default_op = Op::copy,
        .teaches = "A naive transpose stores down columns; tiles turned in shared memory keep both sides coalesced; padding or a swizzle parts their columns over the banks. The matrix has as many rows as --size holds: 4096 x 4096 floats are --size 64MiB.",
        .range = "256..4096*4", .index = "i", .contiguous = "i%width*(n/width) + i/width", .threads = "size/bytes/width*width",
        .options = "--variant --tile", .limits = {.least = 1, .what = "widths"},
        .too_small = "transpose {1}: --size {0} holds no row of that many elements", .compares = "variant"},
    PatternInfo{.name = "indirect", .formula = "rows[i / columns][i % columns]", .parameter = "row_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "A table of row pointers: every access is two instructions, the pointer's and the element's.",
        // cudaMalloc starts every allocation, as rows are, at a multiple of 256 bytes.
        .range = "32B..4096B*2", .index = "i/elements*((row_bytes + 255)/256*256/bytes) + i%elements", .table = "i/elements",
        .threads = "size/row_bytes * elements", .array_elements = "n/elements * ((row_bytes + 255)/256*256/bytes)",
        .holds_elements = "a row", .too_small = "--size {0}: smaller than one row of {1} bytes", .typed_in_elements = true},
    PatternInfo{.name = "shared-stride", .formula = "tile[lane * stride]", .parameter = "stride", .unit = "elements", .default_op = Op::load,
        .teaches = "Shared memory has 32 banks: strides that share a factor with 32 send lanes to the same bank.",
        .range = "1..33", .index = "i%32*stride", .array_elements = "31*stride + 1", .space = Space::shared, .default_size_bytes = small_bytes},
    PatternInfo{.name = "shared-pad", .formula = "tile[row * (columns + padding) + column], down a column", .parameter = "padding", .unit = "elements", .default_op = Op::load,
        .teaches = "A column of a tile lies in one bank; one word of padding to each row spreads it over all.",
        .range = "0..4", .index = "i%32%tile*(tile + padding) + i%32/tile", .array_elements = "tile*(tile + padding)", .space = Space::shared,
        .options = "--tile", .default_size_bytes = small_bytes},
    PatternInfo{.name = "shared-broadcast", .formula = "tile[lane / lanes]", .parameter = "lanes", .unit = "lanes", .default_op = Op::load,
        .teaches = "Lanes that read one word share it: no conflict, however many they are.",
        .range = "1..32*2", .index = "i%32/lanes", .array_elements = "31/lanes + 1", .space = Space::shared,
        .limits = {.least = 1, .most = 32, .what = "groups of lanes"}, .default_size_bytes = small_bytes},
    PatternInfo{.name = "shared-random", .formula = "tile[random(i) % elements]", .parameter = "region_bytes", .unit = "bytes", .default_op = Op::load,
        .teaches = "Random words: about three to four lanes meet in the fullest bank.",
        .range = "128..32768*4", .index = "hash(i, elements, seed)", .space = Space::shared,
        .options = "--seed", .holds_elements = "a region", .default_size_bytes = small_bytes},
    PatternInfo{.name = "constant", .formula = "table[lane % addresses]", .parameter = "addresses", .unit = "lanes", .default_op = Op::load,
        .teaches = "Constant memory serves one address at a time: a warp with k addresses takes k passes.",
        .range = "1..32*2", .index = "i%32%addresses", .array_elements = "addresses", .space = Space::constant,
        .limits = {.least = 1, .most = 32, .what = "addresses of a warp"}},
    PatternInfo{.name = "local", .formula = "own[lane % indices]", .parameter = "indices", .unit = "lanes", .default_op = Op::load,
        .teaches = "Each thread's own array is interleaved: one index in all lanes is one line, k indices are k.",
        .range = "1..32*2", .index = "i%32%indices", .array_elements = "indices", .space = Space::local,
        .limits = {.least = 1, .most = 32, .what = "indices of a warp"}},
};
// clang-format on

// ---- the numbers that rows name ----

void require_within(const PatternInfo& pattern, std::uint64_t value) {
    const ParameterLimits& limits = pattern.limits;
    if (value >= limits.least && value <= limits.most) return;
    if (limits.most == ~0ull)
        throw UsageError(fmt::format("{} {}: {} start at {}{}", pattern.name, value, limits.what,
                                     limits.least, limits.instead));
    throw UsageError(fmt::format("{} {}: {} are {} to {}", pattern.name, value, limits.what,
                                 limits.least, limits.most));
}

// The columns of shared-pad's tile: 32, or 16 if chosen. Throws UsageError for any other.
std::uint64_t shared_pad_tile(const PatternOptions& options) {
    const std::uint64_t columns = options.tile.value_or(32);
    if (columns != 16 && columns != 32)
        throw UsageError(fmt::format("--tile {}: a tile has 16 or 32 columns", columns));
    return columns;
}

std::uint64_t checked_member(const Plan& plan, std::uint64_t members) {
    if (plan.options.member < members) return plan.options.member;
    throw UsageError(
        fmt::format("--member {}: a structure of {} bytes has {} {} member{}, counted from 0",
                    plan.options.member, plan.value, members, name_of(plan.type),
                    members == 1 ? "" : "s"),
        fmt::format("--range is the structure's bytes: member {} needs --range {} or more",
                    plan.options.member, (plan.options.member + 1) * bytes_of(plan.type)));
}

// The multiple to which cudaMallocPitch rounds rows up on the devices seen (an H200 among them); a
// device that is present is asked instead.
constexpr std::uint64_t usual_pitch_alignment_bytes = 512;

// Elements from one row to the next, for rows of plan.value bytes.
std::uint64_t pitch_elements(const Plan& plan) {
    const PatternOptions& options = plan.options;
    std::uint64_t pitch_bytes = plan.value;
    if (options.pitch == "auto") {
        pitch_bytes = options.auto_pitch_bytes.value_or(
            (plan.value + usual_pitch_alignment_bytes - 1) / usual_pitch_alignment_bytes *
            usual_pitch_alignment_bytes);
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

bool is_shuffled(const PatternInfo& pattern, const Plan& plan) {
    return !pattern.shuffled_index.empty() && plan.options.order == "shuffle";
}

// The names that a row may use, with their values.
class PatternValues {
 public:
    PatternValues(const PatternInfo& pattern, const Plan& plan) {
        require_within(pattern, plan.value);
        add(pattern.parameter, plan.value);
        if (plan.value > most && !pattern.takes("--order"))
            throw UsageError(
                fmt::format("{} {}: values are at most {}", pattern.name, plan.value, most));
        add("size", plan.shape.size_bytes);
        add("bytes", bytes_of(plan.type));
        std::uint64_t elements = 0;
        if (!pattern.holds_elements.empty()) {
            elements = elements_in(plan, plan.value, pattern.holds_elements);
            add("elements", elements);
        }
        if (pattern.takes("--seed")) add("seed", plan.options.seed);
        if (pattern.takes("--member")) add("member", checked_member(plan, elements));
        if (pattern.takes("--pitch")) add("pitch", pitch_elements(plan));
        if (pattern.name == "shared-pad") add("tile", shared_pad_tile(plan.options));
        if (is_shuffled(pattern, plan)) {
            add_order(shuffled_lanes(plan.options.seed, plan.value));
        } else if (pattern.takes("--order")) {
            add_lane_rule(plan.options.order, plan.value);
        }
    }

    const std::vector<std::string>& names() const { return names_; }
    const std::vector<std::int64_t>& values() const { return values_; }

 private:
    static constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    void add(std::string_view name, std::uint64_t value) {
        names_.emplace_back(name);
        values_.push_back(static_cast<std::int64_t>(value));
    }
    // (lane * factor + first) ^ flips, modulo 32, is the lane whose place a lane takes.
    void add_lane_rule(const std::string& order, std::uint64_t k) {
        if (k >= warp_lanes)
            throw UsageError(fmt::format(
                "permute {}: a warp has 32 lanes, so --order {} takes 0 to 31", k, order));
        const bool is_reversed = order == "reversed";
        if (!is_reversed && order != "xor" && order != "rotate")
            throw UsageError(
                unknown_word("lane order", order, find_launch_option("order")->words()));
        add("factor", is_reversed ? warp_lanes - 1 : 1);
        add("first", is_reversed ? warp_lanes - 1 + k : order == "rotate" ? k : 0);
        add("flips", order == "xor" ? k : 0);
    }
    // Lanes are numbers of 5 bits, 12 to a word: an array that is indexed by the lane would lie in
    // local memory on a GPU, and its traffic be counted with the pattern's.
    void add_order(const LaneOrder& order) {
        for (std::size_t first = 0; first < warp_lanes; first += 12) {
            std::uint64_t word = 0;
            for (std::size_t lane = first; lane < std::min<std::size_t>(first + 12, warp_lanes);
                 ++lane)
                word |= std::uint64_t{order[lane]} << (lane - first) * 5;
            add(fmt::format("lanes_{}", first), word);
        }
    }

    std::vector<std::string> names_;
    std::vector<std::int64_t> values_;
};

// ---- from a row to a program ----

// No GPU of today addresses more than 2^49 bytes (its virtual addresses); the model may go beyond
// what fits a board, but not to where products of sizes overflow.
constexpr std::uint64_t largest_array_bytes = 1ull << 56;
constexpr std::uint32_t pointer_bytes = 8;

[[noreturn]] void refuse_array(const Plan& plan, std::uint64_t bytes) {
    throw UsageError(fmt::format("{} {} with {}: the array would take {} bytes; choose less",
                                 plan.pattern, plan.value, extent_as_typed(plan.shape), bytes));
}

// "load: a[i*stride] if ...; "
std::string access_text(const PatternInfo& pattern, std::string_view kind, char array,
                        std::string_view index) {
    return fmt::format("{}{}[{}]{}{}; ", kind, array, index,
                       pattern.condition.empty() ? "" : " if ", pattern.condition);
}
std::string table_text(const PatternInfo& pattern, char array) {
    if (pattern.table.empty()) return {};
    return fmt::format("load.u64: table_{}[{}]; ", array, pattern.table);
}

// Copy and add are written out, because their contiguous array has an index of its own; of the
// other ops there is one access without a kind, which the launch's op gives it.
std::string formula_text(const PatternInfo& pattern, const Plan& plan) {
    const Op op = plan.op;
    const std::string_view index =
        is_shuffled(pattern, plan) ? pattern.shuffled_index : pattern.index;
    std::string text = std::string(pattern.parts) + table_text(pattern, 'a');
    if (op != Op::copy && op != Op::add) return text + access_text(pattern, "", 'a', index);
    text += access_text(pattern, "load: ", 'a', index);
    if (op == Op::add)
        text += table_text(pattern, 'b') + access_text(pattern, "load: ", 'b', index);
    return text + access_text(pattern, "store: ", op == Op::add ? 'c' : 'b', pattern.contiguous);
}

void require_op(const PatternInfo& pattern, const Plan& plan) {
    const Op op = plan.op;
    const Space space = pattern.space;
    const bool is_atomic = op == Op::atomic || op == Op::reduce;
    if (pattern.takes("--variant") && op != Op::copy)
        throw UsageError(
            fmt::format("--op {}: a transpose loads row-wise and stores column-wise; "
                        "leave --op out",
                        name_of(op)));
    if (space != Space::global && op != Op::load &&
        (space == Space::constant || (op != Op::store && op != Op::rmw)))
        throw UsageError(
            fmt::format("--op {}: {} takes {}", name_of(op), pattern.name,
                        space == Space::constant ? "load only" : "load, store and rmw"),
            space == Space::shared && is_atomic
                ? fmt::format("as a formula, whose passes only a GPU tells: coalprof formula "
                              "'shared.{}.u32: tile[hash(i, 1024)]'",
                              name_of(op))
                : "");
    if (is_atomic && !is_atomic_type(plan.type))
        throw UsageError(fmt::format("--type {}: --op {} adds {} only", name_of(plan.type),
                                     name_of(op), atomic_types));
}

class PatternProgram {
 public:
    PatternProgram(const PatternInfo& pattern, const Plan& plan)
        : pattern_(pattern), plan_(plan), values_(pattern, plan) {}

    Program build() const {
        if (plan_.shape.size_bytes > largest_array_bytes)
            refuse_array(plan_, plan_.shape.size_bytes);
        const std::uint64_t threads = number(pattern_.threads, 1);
        if (threads == 0) refuse_size();
        const std::uint64_t elements =
            pattern_.array_elements.empty() ? 0 : number(pattern_.array_elements, threads);
        require_op(pattern_, plan_);
        auto formula = std::make_shared<ParsedFormula>(
            parse_formula(formula_text(pattern_, plan_), values_.names()));
        formula->is_of_catalog = true;
        for (FormulaAccess& access : formula->accesses) access.space = pattern_.space;
        FormulaLaunch launch{.op = plan_.op,
                             .type = plan_.type,
                             .shape = plan_.shape,
                             .values = values_.values(),
                             .largest_array_bytes = largest_array_bytes};
        launch.shape.size_bytes = checked_product(threads, bytes_of(plan_.type), "the launch");
        launch.shape.grid.reset();  // it is in the size already
        require_addressable(*formula, launch, elements);
        Program program = make_formula_program(formula, launch);
        finish(program, elements);
        return program;
    }

 private:
    // An expression that is the same in all of `threads`.
    std::uint64_t number(std::string_view text, std::uint64_t threads) const {
        const ParsedFormula formula = parse_formula(fmt::format("a[{}]", text), values_.names());
        const ThreadValue value =
            evaluate_thread(formula.nodes, formula.accesses.front().index,
                            {.threads = threads, .values = values_.values()}, 0);
        if (value.fault != Fault::none || value.value < 0) refuse_overflow("the array");
        return static_cast<std::uint64_t>(value.value);
    }

    [[noreturn]] void refuse_size() const {
        if (pattern_.too_small.empty()) element_count(plan_);
        throw UsageError(
            fmt::format(fmt::runtime(pattern_.too_small), size_as_typed(plan_.shape), plan_.value));
    }

    // Before the launch is checked, whose messages would show the row's text.
    void require_addressable(const ParsedFormula& formula, const FormulaLaunch& launch,
                             std::uint64_t elements) const {
        const Scope scope = scope_of(formula, launch);
        const std::vector<NodeFacts> facts = prove_facts(formula.nodes, scope);
        for (const FormulaAccess& access : formula.accesses) {
            const NodeFacts& index = facts[access.index];
            if (index.subtree_can_fail) refuse_overflow("the array");
            elements = std::max(elements, static_cast<std::uint64_t>(index.range.high) + 1);
        }
        const std::uint64_t bytes = checked_product(elements, bytes_of(plan_.type), "the array");
        // Every GPU has as much shared memory for a block. Both sizes are from the CUDA Programming
        // Guide, "Technical Specifications per Compute Capability".
        std::uint64_t most = largest_array_bytes;
        if (pattern_.space == Space::shared) most = shared_bytes_of_block;
        if (pattern_.space == Space::constant) most = 64 << 10;
        if (bytes <= most) return;
        if (pattern_.space == Space::global) refuse_array(plan_, bytes);
        throw UsageError(fmt::format("{} {}: takes {} bytes of {} memory, which has {}",
                                     pattern_.name, plan_.value, bytes, name_of(pattern_.space),
                                     most));
    }

    // What the row says and its formula does not: lengths of arrays, and tables whose elements lead
    // to rows.
    void finish(Program& program, std::uint64_t elements) const {
        for (std::uint32_t k = 0; k < program.arrays.size(); ++k) {
            Array& array = program.arrays[k];
            if (array.name.starts_with("table_"))
                array.rows_of = RowTable{k + 1, row_bytes(program)};
            else if (array.name == "a" || (array.name == "b" && plan_.op == Op::add))
                array.elements = std::max(array.elements, elements);
        }
        for (const Instruction& one : program.instructions)
            if (is_pointer_load(program, one))
                program.useful_bytes -= program.threads * pointer_bytes;
    }

    // The second row's pointer is the first that another thread than the first loads.
    std::uint64_t row_bytes(const Program& program) const {
        const Instruction& table = program.instructions[0];
        const Instruction& access = program.instructions[1];
        const std::uint64_t second = table.formula->period().value_or(Period{}).threads;
        if (second >= program.threads) return 0;
        std::uint64_t element = 0;
        access.formula->evaluate(second, 1, &element);
        return element * access.width_bytes;
    }

    const PatternInfo& pattern_;
    const Plan& plan_;
    PatternValues values_;
};

}  // namespace

std::string PatternInfo::default_range(std::uint32_t element_bytes) const {
    std::string text(range);
    for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{'))
        text.replace(at, text.find('}') + 1 - at,
                     std::to_string(std::stoull(text.substr(at + 1)) * element_bytes));
    return text;
}

std::span<const PatternInfo> pattern_catalog() { return catalog; }

const PatternInfo* known_pattern(std::string_view name) {
    const auto found = std::ranges::find(catalog, name, &PatternInfo::name);
    return found != catalog.end() ? &*found : nullptr;
}

const PatternInfo& find_pattern(std::string_view name) {
    if (const PatternInfo* known = known_pattern(name)) return *known;
    std::array<std::string_view, catalog.size()> names;
    std::ranges::transform(catalog, names.begin(), &PatternInfo::name);
    throw UsageError(unknown_word("pattern", name, names), "`coalprof patterns` lists them");
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
    const PatternInfo* pattern = known_pattern(plan.pattern);
    if (!pattern) return std::nullopt;
    if (pattern->takes("--variant")) return padded_tile_row(plan.options, plan.type);
    if (!pattern->takes("--pitch") || plan.options.pitch == "none") return std::nullopt;
    return pitch_elements(plan);
}

std::optional<std::uint64_t> tile_columns(std::string_view pattern, const PatternOptions& options,
                                          ElementType type) {
    if (pattern == "transpose") return transpose_tile(options, type);
    if (pattern == "shared-pad") return shared_pad_tile(options);
    return std::nullopt;
}

void build_program(Plan& plan) {
    const PatternInfo& pattern = find_pattern(plan.pattern);
    plan.shape = launch_shape(plan.pattern, plan.options, plan.type, plan.shape);
    const bool is_tiled = pattern.takes("--variant") && has_tile(plan.options.variant);
    if (!is_tiled) {
        plan.program = PatternProgram(pattern, plan).build();
        return;
    }
    require_within(pattern, plan.value);
    require_op(pattern, plan);
    plan.program = make_tiled_transpose(plan);
}

}  // namespace coalprof
