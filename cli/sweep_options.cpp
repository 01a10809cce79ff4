#include "cli/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "cli/parse.h"
#include "core/machine/machine_file.h"
#include "core/pattern/walk_limit.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

// Throws where both the launch's blocks and its bytes are given and one is swept: each follows from
// the other.
void require_one_extent(const Sweep& sweep) {
    const auto refuse = [](const char* option) {
        throw UsageError(
            fmt::format("{} has several values: --grid and --size are of one launch", option),
            "give one of the two: each follows from the other");
    };
    if (!sweep.launch.shape.grid) return;
    if (has_axis(sweep.axes, "size_bytes")) refuse("--size");
    if (has_axis(sweep.axes, "grid") && !sweep.launch.shape.size_text.empty()) refuse("--grid");
}

// With the words and ranges that it takes, and its default.
std::string help_of(const LaunchOption& option, OptionValues values, std::string_view usual) {
    const std::string_view range = values == OptionValues::several ? option.range : "";
    std::string help =
        fmt::format(fmt::runtime(option.help), fmt::arg("range", range),
                    fmt::arg("words", option.words ? joined(option.words(), " ") : ""));
    if (!usual.empty()) help += fmt::format(" (default {})", usual);
    return help;
}

}  // namespace

// The unit of plain numbers.
std::string typed_units(const PatternInfo& pattern) {
    if (pattern.typed_in_elements || pattern.unit == "elements")
        return " in elements; with a unit, 512B..4KiB*2, in bytes";
    return pattern.unit.empty() ? "" : fmt::format(" in {}", pattern.unit);
}

void SweepOptions::add_range_to(CLI::App& command, const PatternInfo& pattern) {
    add_value(command, "--range,-r", range,
              fmt::format("Values of {}: 0..32, 0..128:4, 1..1024*2, 1,2,4{} (default {})",
                          pattern.parameter, typed_units(pattern), pattern.default_range(4)),
              "R");
}

// Each takes a list, and numbers take ranges, which make it an axis of the sweep.
void SweepOptions::add_to(CLI::App& command, const LaunchOption& option, std::string help,
                          const std::string& group) {
    add_value(command, std::string(option.word), typed[option.key], help,
              fmt::format("{},...", option.value), group);
}

void SweepOptions::add_shape_to(CLI::App& command, const PatternInfo* pattern,
                                OptionValues values) {
    for (const LaunchOption& option : launch_options()) {
        if (option.group == OptionGroup::pattern) continue;
        std::string usual(option.usual);
        if (pattern && option.key == "op") usual = name_of(pattern->default_op);
        if (pattern && option.key == "size_bytes")
            usual = size_as_typed({.size_bytes = pattern->default_size_bytes});
        add_to(command, option, help_of(option, values, usual), "");
    }
}

void SweepOptions::add_pattern_options_to(CLI::App& command, std::string_view names) {
    for (const LaunchOption& option : launch_options())
        if (option.group == OptionGroup::pattern && names.find(option.word) != names.npos)
            add_to(command, option, help_of(option, OptionValues::several, option.usual),
                   "Of the pattern");
}

void SweepOptions::take(OptionGroup group, Sweep& sweep) const {
    for (const LaunchOption& option : launch_options())
        if (const std::string text = text_of(option.key); option.group == group && !text.empty())
            take_option(sweep, option.key, text);
}

Sweep SweepOptions::settings(std::uint64_t default_size_bytes) const {
    Sweep sweep;
    sweep.launch.shape.size_bytes = default_size_bytes;
    take(OptionGroup::launch, sweep);
    require_one_extent(sweep);
    take(OptionGroup::memory, sweep);
    return sweep;
}

void SweepOptions::require_effects(AccessSet accesses, std::string_view pattern,
                                   const Invocation& invocation) const {
    const PatternInfo* own = known_pattern(pattern);
    for (const LaunchOption& option : launch_options()) {
        if (!invocation.has_typed(option.name())) continue;  // settings hold for all commands
        const std::string text = text_of(option.key);
        require_effect(option, text, accesses);
        const LaunchOption* needed = find_launch_option(option.needed_key);
        if (!needed || !own || !own->takes(needed->word)) continue;
        const std::vector<std::string> words = list_items(text_of(needed->key));
        if (std::ranges::find(words, option.needed_word) == words.end())
            throw UsageError(fmt::format("{} {}: without {} {} it changes nothing", option.name(),
                                         shown(text), needed->name(), option.needed_word),
                             "leave it out");
    }
}

Sweep SweepOptions::sweep_of(const PatternInfo& pattern) const {
    Sweep sweep = settings(pattern.default_size_bytes);
    sweep.pattern = std::string(pattern.name);
    set_values(sweep, pattern, range, range_option);
    take(OptionGroup::pattern, sweep);
    return sweep;
}

void MachineOptions::add_to(CLI::App& command) {
    const auto option = [&](const char* name, std::string& value, const char* help,
                            const char* what) {
        add_value(command, name, value, help, what, "Model and device");
    };
    option("--machine,-m", machine,
           "GPU that the model predicts: 9.0, sm_90, h200, c2050; a list sweeps (default: the "
           "device present, else h200). k40:bank8: banks of 8 bytes on 3.x. FILE.json: of "
           "coalprof calibrate",
           "M,...");
    option("--backend", backend, "auto, model or device (default auto)", "B");
    option("--device", device,
           "CUDA device index (default 0); several GPUs share a sweep by --shard and merge", "N");
    option("--counters", counters,
           "What is measured. basic (default): requests, sectors, L1 hits, L2 and DRAM traffic. "
           "memory: also lines, tag wavefronts and distinct bytes. all: whatever the GPU counts. "
           "none: time only. a,b,c: these counters, and no others are shown. Predictions are shown "
           "with each set",
           "L");
    option("--repeat", repeat,
           "Timed repetitions; the median is reported; 0: not timed (default 20)", "N");
    option("--cache", cache,
           "cold or warm: whether L2 is flushed before each launch (default cold)", "C");
    add_threads_to(command)->group("Model and device");
    add_value(command, "--shard", shard,
              "Only part I of N of the points: 2/4; auto: as Slurm, MPI or Kubernetes says; "
              "`coalprof merge` joins the parts",
              "I/N", "Long sweeps");
    add_value(command, "--max-warps", max_warps,
              fmt::format("Limit on warps simulated individually, which launches that do not "
                          "repeat need (default {}: {} of one core)",
                          most_walked_warps, time_to_walk(most_walked_warps)),
              "N", "Long sweeps");
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

int MachineOptions::device_index() const {
    if (std::isalpha(static_cast<unsigned char>(device.front())) != 0)
        throw UsageError(
            fmt::format("--device {}: it is no number of a device here", shown(device)),
            fmt::format("a GPU to predict: --machine {}", shown(device)));
    return static_cast<int>(parse_integer(device, "--device", 0, 1023));
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
