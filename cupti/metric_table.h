// The one table of the vendor metrics that answer each of our counters, with the cost of collecting
// them. Names differ between chips: a counter lists candidates, and the first that the chip has is
// used. Everything else here follows from the table. No CUDA types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pattern/access_set.h"
#include "core/result/counter.h"
#include "core/result/reading.h"

namespace coalprof {

enum class MetricCost : std::uint8_t {
    base,          // fits the one hardware pass of the launch's basic counters
    extra,         // needs further hardware passes
    instrumented,  // CUPTI patches the code; always a separate pass, never timed
    derived,       // follows from other counters, at their cost
    elsewhere,     // not CUPTI's: from the launcher (time) or the plan
    never,         // CUPTI cannot give it on any chip
};

struct CounterMetrics {
    Counter counter;
    MetricCost cost;
    AccessSet concerns;  // accesses; the counter needs at least one of them
    std::array<std::string_view, 3> candidates{};  // names with rollups; an empty one ends them
    std::string_view why_never{};
    // The metric does not distinguish accesses: it is an answer only if no other access was made.
    bool needs_sole_access = false;
    // Where the hardware counts waiting as well: its count with waiting, how many of those it takes
    // for conflicts, and the count of instrumented code without waiting. The difference is
    // subtracted, unless the launch is one warp, which waits for no other.
    std::string_view with_waiting{};
    std::string_view conflicts{};
    std::string_view without_waiting{};
};

// One row per counter, in enum order.
std::span<const CounterMetrics> metric_table();
const CounterMetrics& metrics_of(Counter counter);

// The metrics to ask of CUPTI for `wanted` on one chip.
struct MetricPlan {
    struct Source {
        Counter counter;
        bool is_instrumented = false;
        std::size_t metric = 0;                   // index into hardware or instrumented
        std::vector<std::size_t> must_be_zero{};  // indices into hardware
        struct Waiting {
            std::size_t with = 0;       // index into hardware
            std::size_t conflicts = 0;  // likewise
            std::size_t without = 0;    // index into instrumented
        };
        std::optional<Waiting> waiting{};
    };
    std::vector<std::string> hardware;      // each name once
    std::vector<std::string> instrumented;  // likewise
    std::vector<Source> sources;            // includes the parts of the ratios in `wanted`
    std::vector<std::pair<Counter, Unavailable>> unavailable;
};

// `has_metric`: see ChipMetrics::has. Counters of cost `elsewhere` are skipped. `of_lone_warps`:
// every launch is one warp.
MetricPlan plan_metrics(std::span<const Counter> wanted, std::string_view chip,
                        const std::function<bool(std::string_view)>& has_metric,
                        bool of_lone_warps = false);

// The named sets of --counters, made for the accesses of a launch. No CUDA types.
enum class CounterSet : std::uint8_t {
    basic,   // one hardware pass for the accesses of any one op on one memory, on every GPU from cc
             // 7.5 on, and for shared memory an instrumented one; one more for a transpose through
             // shared memory, and from GH100 on for textures beside loads or stores
    memory,  // and lines, tag wavefronts, unique bytes and counters derived from them: an
             // instrumented pass, and one or two more of hardware
    all,     // every counter that concerns the launch
};
std::optional<CounterSet> find_counter_set(std::string_view name);

// The counters of `set` that concern a launch with these accesses, in output order. Without
// counters that are measured elsewhere (time).
std::vector<Counter> counters_of(CounterSet set, AccessSet accesses);

// A sweep to be counted, in plain values without CUDA types. See CounterCollector::collect() for
// exceptions of the two calls.
struct CountedSweep {
    std::size_t points = 0;
    const std::function<void(std::size_t)>& before;
    const std::function<void(std::size_t)>& work;
};

// The values of one point: one value per metric (NaN: the GPU could not count it), or why there is
// none. `failure` lives as long as the program.
struct PointValues {
    std::vector<double> values;
    std::string_view failure;
};

struct SweepValues {
    std::vector<PointValues> points;
    // The reason why the sweep ended before its last point, kept like `failure`; empty: it did not.
    std::string_view ended_because;
    bool device_lost = false;  // a launch lost the GPU, not CUPTI
    bool has_values() const;
};

}  // namespace coalprof
