#include "core/explain/launch_time.h"

#include <fmt/format.h>

#include "core/count/launch_sum.h"
#include "core/count/predict.h"
#include "core/sim/estimate.h"
#include "core/text/units.h"

namespace coalprof {

TimedLaunch timed(const Plan& plan, const Machine& machine) {
    const std::uint64_t warps = warps_walked(plan.program);
    if (warps > most_timed_warps)
        return {.omitted = Warning{
                    "W-SAMPLED", "",
                    fmt::format("{} warps of the launch repeat no other, so its time is not "
                                "computed for a drawing; the same pattern without 'explain' "
                                "predicts it",
                                grouped(warps))}};
    Readings readings = Predictor(machine).predict_launch(plan, {});
    const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
    const Interval* interval = estimates ? estimates->of(Counter::duration_seconds) : nullptr;
    if (!interval || estimates->limits.empty()) return {};
    return {.time = LaunchTime{
                {interval->low, number_in(readings[Counter::duration_seconds]), interval->high},
                estimates->limits.front()}};
}

}  // namespace coalprof
