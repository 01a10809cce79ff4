// The options of a sweep as typed, and their meaning. CLI11 only collects text here: its
// conversions turn -1 into 2^64-1 and 010 into 8.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "core/sweep/patterns.h"
#include "core/sweep/shard.h"
#include "core/sweep/sweep.h"

namespace coalprof {

// The values of an option, for its help: lists and ranges, or one value.
enum class OptionValues : std::uint8_t { several, one };

struct SweepOptions {
    std::string range;
    std::string range_option = "--range";  // its name in messages
    // The typed values of the options in core/pattern/launch_options.h, by their keys.
    std::map<std::string_view, std::string> typed;
    std::string text_of(std::string_view key) const {
        const auto text = typed.find(key);
        return text == typed.end() ? std::string() : text->second;
    }

    // Everything but --range and the pattern's own options; `pattern` for its defaults in --help.
    void add_shape_to(CLI::App& command, const PatternInfo* pattern,
                      OptionValues values = OptionValues::several);
    // Those of --variant --order --seed --member --pitch --tile that `names` holds.
    void add_pattern_options_to(CLI::App& command, std::string_view names);
    void add_range_to(CLI::App& command, const PatternInfo& pattern);
    // The part that does not depend on a pattern: op, type, shape and cache settings. Throws
    // UsageError.
    Sweep settings(std::uint64_t default_size_bytes = usual_size_bytes) const;
    // The same with the pattern and its values; machines are left out. Throws UsageError.
    Sweep sweep_of(const PatternInfo& pattern) const;
    // Throws UsageError for an option that changes nothing about these accesses, or the pattern.
    void require_effects(AccessSet accesses, std::string_view pattern,
                         const Invocation& invocation) const;

 private:
    void add_to(CLI::App& command, const LaunchOption& option, std::string help,
                const std::string& group);
    void take(OptionGroup group, Sweep& sweep) const;
};

// The source of the answer: which machine is predicted, which GPU is measured, and how.
struct MachineOptions {
    std::string machine;
    std::string backend = "auto";
    std::string device = "0";
    std::string counters;
    std::string repeat = "20";
    std::string cache = "cold";
    BudgetOptions budgets;
    std::string shard;
    std::string max_warps;
    bool resume = false;

    void add_to(CLI::App& command);

    enum class Backend { automatic, model, device };
    // Throws UsageError, as the next do.
    Backend chosen_backend() const;
    std::uint64_t repeats() const;
    CacheState cache_state() const;
    int device_index() const;
    // None: the whole sweep.
    std::optional<Shard> chosen_shard() const;
    // Throws UsageError where evaluating this many warps one by one takes longer than the user
    // allowed.
    void require_patience(std::uint64_t warps) const;
    std::vector<Machine> machines() const;  // each once; the H200 where none is named
};

// Adds it unless it is there already; its name identifies it.
void add_machine(std::vector<Machine>& machines, const Machine& machine);

}  // namespace coalprof
