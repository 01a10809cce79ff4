// How long a launch takes: named terms, each an amount of work over a rate of the machine. They run
// beside each other, so that the longest decides and those near it add to it.
#pragma once

#include <array>
#include <cstddef>

#include "core/machine/rates.h"
#include "core/result/estimates.h"
#include "core/traffic/work.h"

namespace coalprof {

struct Duration {
    std::array<double, limit_count> term_seconds{};  // by Limit
    double seconds = 0;
    Limit longest() const;
};

Duration duration_of(const Work& work, const Rates& rates);

// Of measured durations to predicted ones: nine of ten launches that were measured lie between, by
// what limits them.
struct Spread {
    double low = 1;
    double high = 1;
};
Spread spread_of(Limit longest, const Rates& rates);

}  // namespace coalprof
