// From measured durations to rates: the arithmetic of `coalprof calibrate`, without a GPU.
//
// All launches are compared with the model of time at once, and each rate is moved to where they
// agree best. A rate that no launch determines stays where it was before, and one that they
// determine poorly stays close to it: `prior` weighs as much as one launch that is off by a tenth
// when the rate is off by a factor e. Solving for one rate after the other, from a launch that it
// decides alone, would pass the error of each to the next.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/machine/rates.h"
#include "core/traffic/work.h"

namespace coalprof {

struct TimedWork {
    Work work;
    double seconds = 0;
};

struct FittedRate {
    RateInfo info;
    double value = 0;
    bool is_measured = false;  // else it is the prior's
    // For a measured one: about how far off it may be, judging from the launches.
    double doubt = 0;
    std::vector<std::size_t> launches;  // that determine it, the best first; a few
};

struct RateFit {
    Rates rates;
    std::vector<FittedRate> by_rate;  // in the order of all_rates()
};

RateFit fit_rates(std::span<const TimedWork> launches, const Rates& prior);

}  // namespace coalprof
