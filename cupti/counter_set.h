// The named sets of --counters, made for the accesses of a launch. No CUDA types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "cupti/metric_table.h"

namespace coalprof {

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

// A sweep to be counted, and its counts. Plain values without CUDA types.

// See CounterCollector::collect() for exceptions of the two calls.
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
