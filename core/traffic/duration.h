// The time of a launch: named terms, each an amount of work over a rate of the machine. They
// overlap, so that the longest decides and those close to it add to it.
#pragma once

#include <array>
#include <cstddef>

#include "core/machine/rates.h"
#include "core/result/result.h"
#include "core/traffic/work.h"

namespace coalprof {

struct Duration {
    std::array<double, limit_count> term_seconds{};  // by Limit
    double seconds = 0;
    Limit longest() const;
};

Duration duration_of(const Work& work, const Rates& rates);

// The range of nine of ten measured launches.
struct DurationRange {
    double low_seconds = 0;
    double high_seconds = 0;
};
DurationRange range_of(const Duration& duration, const Rates& rates);

}  // namespace coalprof
