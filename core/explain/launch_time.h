// The time of the whole launch of a drawn warp, by the model.
#pragma once

#include <cstdint>
#include <optional>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/differ.h"
#include "core/result/result.h"

namespace coalprof {

// An estimate: nine of ten measured launches lie between low and high.
struct LaunchTime {
    Amount seconds;
    Limit limit = Limit::start;
};

// The time of a launch is not computed for a drawing where more warps than these repeat no other:
// each takes some microseconds.
inline constexpr std::uint64_t most_timed_warps = 1ull << 21;

struct TimedLaunch {
    std::optional<LaunchTime> time = {};  // none: the machine's rates are not known
    std::optional<Warning> omitted = {};  // why the time was not computed
};

// The plan's program is built.
TimedLaunch timed(const Plan& plan, const Machine& machine);

}  // namespace coalprof
