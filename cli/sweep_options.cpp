#include "cli/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_set>

#include "cli/axis_options.h"
#include "cli/thread_option.h"
#include "core/machine/machine_file.h"
#include "core/pattern/walk_limit.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "core/text/size.h"
#include "core/text/suggest.h"

namespace coalprof {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
    std::string text;
    for (const auto word : words) text += fmt::format("{}{}", text.empty() ? "" : " ", word);
    return text;
}

// The value of a word, or a UsageError that lists the words.
template <typename Found>
auto found_or_refuse(std::string_view option, std::string_view word, Found found,
                     const std::vector<std::string_view>& words) {
    if (!found) throw UsageError(unknown_word(option, word, words));
    return *found;
}

template <typename Item, typename Read>
std::vector<Item> read_list(std::string_view text, std::string_view option, Read read) {
    std::vector<Item> items;
    for (const std::string& word : split_list(text, option)) items.push_back(read(word));
    return items;
}

std::uint32_t read_l2_fetch(const std::string& word) {
    for (const std::uint32_t bytes : {32u, 64u, 128u})
        if (word == fmt::to_string(bytes)) return bytes;
    throw UsageError(fmt::format("--l2-fetch {}: L2 fetches 32, 64 or 128 bytes", shown(word)));
}

template <typename Item>
std::vector<std::optional<Item>> as_optional(const std::vector<Item>& items) {
    return {items.begin(), items.end()};
}

}  // namespace

void set_block(LaunchShape& shape, const Dimensions& block) {
    shape.block = static_cast<std::uint32_t>(block.count());
    shape.block_shape.reset();
    if (!block.is_flat() || block.is_shape) shape.block_shape = block;
}

Carveout read_carveout(const std::string& word) {
    if (word == "prefer-l1") return {0, word};
    if (word == "prefer-equal") return {50, word};
    if (word == "prefer-shared") return {100, word};
    const std::string_view digits =
        std::string_view(word).substr(0, word.size() - (word.ends_with('%') ? 1 : 0));
    const ReadNumber number = read_integer(digits);
    if (number.status == NumberStatus::ok && number.length == digits.size() && number.value <= 100)
        return {static_cast<std::uint32_t>(number.value), word};
    throw UsageError(
        fmt::format("--carveout {}: not a way to split L1", shown(word)), {}, UsageError::no_caret,
        "prefer-l1, prefer-equal, prefer-shared, or the share of shared memory: 0 to 100");
}

std::vector<std::string> split_list(std::string_view text, std::string_view option) {
    std::vector<std::string> parts;
    std::unordered_set<std::string_view> known;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (end == begin)
            throw UsageError(fmt::format("{} {}: a value is missing", option, shown(text)),
                             std::string(text), begin, "lists look like a,b,c");
        const std::string_view part = text.substr(begin, end - begin);
        if (known.insert(part).second) parts.emplace_back(part);
        begin = end + 1;
    }
    return parts;
}

// What plain numbers count.
std::string typed_units(const PatternInfo& pattern) {
    if (pattern.typed_in_elements || pattern.unit == "elements")
        return " in elements; with a unit, 512B..4KiB*2, in bytes";
    return pattern.unit.empty() ? "" : fmt::format(" in {}", pattern.unit);
}

void SweepOptions::add_range_to(CLI::App& command, const PatternInfo& pattern) {
    command
        .add_option("--range,-r", range,
                    fmt::format("Values of {}: 0..32, 0..128:4, 1..1024*2, 1,2,4{} (default {})",
                                pattern.parameter, typed_units(pattern), pattern.default_range(4)))
        ->type_name("R");
}

void SweepOptions::add_shape_to(CLI::App& command, const PatternInfo* pattern,
                                OptionValues values) {
    // "64..1024*2, ", where a range is taken.
    const auto range = [values](std::string_view example) {
        return values == OptionValues::several ? example : std::string_view();
    };
    const auto option = [&](const char* name, std::string& value, const std::string& help,
                            const char* what) {
        command.add_option(name, value, help)->type_name(what);
    };
    const std::string own_op =
        pattern ? fmt::format(" (default {})", name_of(pattern->default_op)) : std::string();
    // Each takes a list, and numbers take ranges: then it is an axis of the sweep.
    option("--type,-t", type,
           "Element type: " + joined(element_type_list()) +
               ", or float, half2, ... as in CUDA (default f32)",
           "T,...");
    option("--op", op, "Operation: " + joined(op_list()) + own_op, "O,...");
    option(
        "--size,-s", size,
        fmt::format("Useful data in bytes: 4MiB, 65536{} (default 4MiB)", range(", 1MiB..1GiB*4")),
        "N,...");
    option(
        "--block", block,
        fmt::format("Threads per block: 256, {}32x8, 8x8x4 (default 256)", range("64..1024*2, ")),
        "N,...");
    option("--grid", grid,
           fmt::format("Blocks: 1024, {}64x64, 8x8x8 (default: as many as --size needs)",
                       range("64..1024*2, ")),
           "N,...");
    option("--per-thread", per_thread,
           fmt::format("Elements each thread handles: 4{} (default 1)", range(", 1..8*2")),
           "N,...");
    option("--dlcm", dlcm,
           "Default cache modifier of loads, nvcc's -Xptxas -dlcm: ca cg cs cv (default: ca where "
           "the GPU keeps loads in L1, else cg)",
           "M,...");
    option("--dscm", dscm,
           "Default cache modifier of stores, nvcc's -Xptxas -dscm: wb cg cs wt (default wb)",
           "M,...");
    option("--carveout", carveout,
           "L1/shared split: prefer-l1, prefer-equal, prefer-shared, or shared memory's share: 0 "
           "to 100",
           "C,...");
    option("--l2-fetch", l2_fetch, "L2 fetch granularity: 32, 64, 128 bytes", "N,...");
    option("--alloc", alloc, "Where the arrays lie: device, static, managed, host (default device)",
           "A,...");
    option("--path", path, "Instruction of global loads: ld, ldg, tex (default ld)", "P,...");
}

void SweepOptions::add_pattern_options_to(CLI::App& command, std::string_view names) {
    const auto option = [&](const char* name, std::string& value, const char* help,
                            const char* what) {
        if (names.find(name) == std::string_view::npos) return;
        command.add_option(name, value, help)->type_name(what)->group("Of the pattern");
    };
    option("--variant", variant, "transpose: naive, tile, padded or swizzled (default naive)",
           "V,...");
    option("--order", order, "permute: reversed, xor, rotate or shuffle (default xor)",
           "ORDER,...");
    option("--seed", seed, "Seed of the random numbers (default 1)", "N,...");
    option("--member", member, "Which member of the structure, from 0 (default 0)", "N,...");
    option("--tile", tile,
           "Columns of the tile: 16 or 32 of shared-pad (default 32), 16, 32 or 64 of a transpose "
           "(default 64 for elements of up to 4 bytes, else 32)",
           "N,...");
    option("--pitch", pitch,
           "From row to row: none, auto (as cudaMallocPitch), elements, or bytes with a unit: 4KiB "
           "(default none)",
           "P,...");
}

Sweep SweepOptions::settings() const {
    Sweep sweep;
    add_type(sweep, type);
    if (!op.empty()) add_op(sweep, op);
    if (!size.empty()) add_size(sweep, size);
    add_block(sweep, block);
    if (!grid.empty()) add_grid(sweep, grid);
    add_per_thread(sweep, per_thread);
    if (!dlcm.empty())
        sweep.dlcm = read_list<LoadModifier>(dlcm, "--dlcm", [](const std::string& word) {
            return found_or_refuse("--dlcm", word, find_load_modifier(word), load_modifier_list());
        });
    sweep.dscm = read_list<StoreModifier>(dscm, "--dscm", [](const std::string& word) {
        return found_or_refuse("--dscm", word, find_store_modifier(word), store_modifier_list());
    });
    sweep.allocations = read_list<Allocation>(alloc, "--alloc", [](const std::string& word) {
        return found_or_refuse("--alloc", word, find_allocation(word), allocation_list());
    });
    sweep.paths = read_list<LoadPath>(path, "--path", [](const std::string& word) {
        return found_or_refuse("--path", word, find_load_path(word), load_path_list());
    });
    if (!carveout.empty())
        sweep.carveouts = as_optional(read_list<Carveout>(carveout, "--carveout", read_carveout));
    if (!l2_fetch.empty())
        sweep.l2_fetch_bytes =
            as_optional(read_list<std::uint32_t>(l2_fetch, "--l2-fetch", read_l2_fetch));
    return sweep;
}

Sweep SweepOptions::sweep_of(const PatternInfo& pattern) const {
    Sweep sweep = settings();
    sweep.pattern = std::string(pattern.name);
    set_values(sweep, pattern, range, range_option);
    add_variant(sweep, variant);
    add_order(sweep, order);
    add_seed(sweep, seed);
    add_member(sweep, member);
    add_pitch(sweep, pitch);
    if (!tile.empty()) add_tile(sweep, tile);
    return sweep;
}

void MachineOptions::add_to(CLI::App& command) {
    const auto option = [&](const char* name, std::string& value, const char* help,
                            const char* what) {
        command.add_option(name, value, help)->type_name(what)->group("Model and device");
    };
    option("--machine,-m", machine,
           "GPU that the model predicts: 9.0, sm_90, h200, c2050; a list sweeps (default: the "
           "device present, else h200). k40:bank8: banks of 8 bytes on 3.x. FILE.json: of "
           "coalprof calibrate",
           "M,...");
    option("--backend", backend, "auto, model or device (default auto)", "B");
    option("--device", device, "CUDA device index; 0,1 or all: the sweep on each GPU (default 0)",
           "N,...");
    option("--counters", counters,
           "What is measured. basic: requests, sectors, L1 hits, L2 and DRAM traffic; memory: "
           "also lines, tag wavefronts, distinct bytes; all: whatever the GPU "
           "counts; none: time only; or keys: a,b,c, which are then the only ones shown (default "
           "basic). Predictions are shown with each",
           "L");
    option("--repeat", repeat,
           "Timed repetitions; the median is reported; 0: not timed (default 20)", "N");
    option("--cache", cache,
           "cold or warm: whether L2 is flushed before each launch (default cold)", "C");
    add_threads_to(command)->group("Model and device");
    command
        .add_option("--shard", shard,
                    "Only part I of N of the points: 2/4; auto: as Slurm, MPI or Kubernetes says; "
                    "`coalprof merge` joins the parts")
        ->type_name("I/N")
        ->group("Long sweeps");
    command
        .add_option("--max-warps", max_warps,
                    fmt::format("Warps that may be evaluated one by one, where launches do not "
                                "repeat (default {}: {} of one core)",
                                most_walked_warps, time_to_walk(most_walked_warps)))
        ->type_name("N")
        ->group("Long sweeps");
    command
        .add_flag("--resume", resume,
                  "Continue where the same command stopped, with the same --output")
        ->group("Long sweeps");
    budgets.add_to(command);
}

void MachineOptions::require_patience(std::uint64_t warps) const {
    const std::uint64_t most =
        max_warps.empty() ? most_walked_warps : parse_integer(max_warps, "--max-warps");
    if (warps <= most) return;
    throw UsageError(
        fmt::format(
            "about {} warps of this sweep repeat no other, which takes one core about {} to "
            "predict; without --max-warps at most {} are begun",
            warps, time_to_walk(warps), most_walked_warps),
        {}, UsageError::no_caret,
        fmt::format("--max-warps {} begins it all the same; fewer values or a smaller --size take "
                    "less, --shard 1/4 a part",
                    warps));
}

std::optional<Shard> MachineOptions::chosen_shard() const {
    if (shard.empty()) return std::nullopt;
    return parse_shard(shard, [](const char* name) { return std::getenv(name); });
}

MachineOptions::Backend MachineOptions::chosen_backend() const {
    constexpr std::array<std::string_view, 3> names{"auto", "model", "device"};
    if (backend == "auto") return Backend::automatic;
    if (backend == "model") return Backend::model;
    if (backend == "device") return Backend::device;
    throw UsageError(unknown_word("--backend", backend, names));
}

std::uint64_t MachineOptions::repeats() const {
    return parse_integer(repeat, "--repeat", 0, 1'000'000);
}

CacheState MachineOptions::cache_state() const {
    constexpr std::array<std::string_view, 2> names{"cold", "warm"};
    if (cache != "cold" && cache != "warm") throw UsageError(unknown_word("--cache", cache, names));
    return cache == "cold" ? CacheState::cold : CacheState::warm;
}

std::vector<int> MachineOptions::device_indices() const {
    std::vector<int> indices;
    if (device == "all") return indices;
    for (const std::string& index : split_list(device, "--device"))
        indices.push_back(static_cast<int>(parse_integer(index, "--device", 0, 1023)));
    return indices;
}

int MachineOptions::only_device_index(std::string_view what) const {
    const std::vector<int> indices = device_indices();
    if (indices.size() != 1)
        throw UsageError(fmt::format("--device {}: {} on one GPU at a time", device, what), {},
                         UsageError::no_caret, "name its number; `coalprof devices` lists them");
    return indices.front();
}

std::vector<Machine> MachineOptions::machines() const {
    std::vector<Machine> machines;
    for (const std::string& name : split_list(machine.empty() ? "h200" : machine, "--machine"))
        add_machine(machines, machine_named(name));
    return machines;
}

void add_machine(std::vector<Machine>& machines, const Machine& machine) {
    const auto is_known = [&](const Machine& other) { return other.name == machine.name; };
    if (std::none_of(machines.begin(), machines.end(), is_known)) machines.push_back(machine);
}

}  // namespace coalprof
