// What is known of predicted values that are no exact counts: an interval each, and what limits the
// launch. Exact counters are never in it.
#pragma once

#include <string_view>
#include <vector>

#include "core/result/counter.h"

namespace coalprof {

// Holds the measured value of nine of ten launches that were measured.
struct Interval {
    Counter counter;
    double low = 0;
    double high = 0;
};

struct Estimates {
    std::vector<Interval> intervals;       // in the order of the counters
    std::vector<std::string_view> limits;  // what the time is limited by, first what most of all
};

}  // namespace coalprof
