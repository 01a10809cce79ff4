// A sweep to be counted, and what came of it. Plain values without CUDA types.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace coalprof {

// CounterCollector::collect() says what the two calls may throw.
struct CountedSweep {
    std::size_t points = 0;
    const std::function<void(std::size_t)>& before;
    const std::function<void(std::size_t)>& work;
};

// What one point gave: one value per metric (NaN: the GPU could not count it), or why there is
// none. `failure` lives as long as the program.
struct PointValues {
    std::vector<double> values;
    std::string_view failure;
};

struct SweepValues {
    std::vector<PointValues> points;
    // Why the sweep ended before its last point, kept like `failure`; empty: it did not.
    std::string_view ended_because;
    bool device_lost = false;  // ended by a launch that took the GPU away, not by CUPTI
    bool has_values() const;
};

// Where the time of a collection went, in seconds.
struct CollectTimes {
    double set_up_seconds = 0;
    double sweep_seconds = 0;  // Start..Stop, launches included
    double decode_seconds = 0;
    double evaluate_seconds = 0;
    double close_seconds = 0;
    double total_seconds() const {
        return set_up_seconds + sweep_seconds + decode_seconds + evaluate_seconds + close_seconds;
    }
};

}  // namespace coalprof
