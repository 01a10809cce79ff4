#include "core/sim/estimate.h"

#include <algorithm>

#include "core/machine/rates.h"
#include "core/sim/kernel_time.h"
#include "core/sim/plan_time.h"

namespace coalprof {
namespace {

void set_duration(Readings& readings, Estimates& estimates, const Interval& seconds,
                  double useful_bytes) {
    const double duration = number_in(readings[Counter::duration_seconds]);
    readings[Counter::bandwidth_bytes_per_second] = useful_bytes / duration;
    estimates.intervals.push_back({Counter::bandwidth_bytes_per_second, useful_bytes / seconds.high,
                                   useful_bytes / seconds.low});
}

// The time of device memory alone, where the traffic and that rate are known but the other rates
// are not. Such launches were never measured: the interval reaches to three times that.
std::optional<Estimates> estimate_by_traffic(const Plan& plan, Readings& readings) {
    const Reading& bandwidth = readings[Counter::bandwidth_bytes_per_second];
    if (!is_number(bandwidth) || !(number_in(bandwidth) > 0)) return std::nullopt;
    const double useful = static_cast<double>(plan.program.useful_bytes);
    const double seconds = useful / number_in(bandwidth);
    readings[Counter::duration_seconds] = seconds;
    Estimates estimates;
    estimates.intervals.push_back({Counter::duration_seconds, 0.9 * seconds, 3 * seconds});
    set_duration(readings, estimates, estimates.intervals.front(), useful);
    estimates.limits = {Limit::dram};
    return estimates;
}

bool is_simulated(const Machine& machine, const Plan& plan) {
    return is_simulated_on(machine) && plan.allocation != Allocation::host &&
           plan.path != LoadPath::tex;
}

// Lanes of an atomic on shared memory that use one word are serialized, and their number is not
// known.
bool has_unknown_passes(const Readings& readings) {
    return is_number(readings[Counter::shared_atomic_requests]) &&
           !is_number(readings[Counter::shared_atomic_wavefronts]);
}
void set_no_time(Readings& readings, Estimates& estimates) {
    constexpr Unavailable turns{
        "lanes of an atomic on shared memory that meet on a word take turns: how long these take "
        "only a measurement tells"};
    for (const Counter counter : {Counter::duration_seconds, Counter::bandwidth_bytes_per_second}) {
        readings[counter] = turns;
        std::erase_if(estimates.intervals,
                      [&](const Interval& one) { return one.counter == counter; });
    }
    estimates.limits.clear();
}

}  // namespace

std::optional<Estimates> add_estimates(const Machine& machine, const Plan& plan, CacheState cache,
                                       Readings& readings) {
    Estimates estimates;
    if (is_simulated(machine, plan)) {
        estimates =
            add_plan_time(plan, machine, *rates_of(machine), cache == CacheState::warm, readings);
        set_duration(readings, estimates, *estimates.of(Counter::duration_seconds),
                     static_cast<double>(plan.program.useful_bytes));
    } else if (const auto by_traffic = estimate_by_traffic(plan, readings)) {
        estimates = *by_traffic;
    }
    if (has_unknown_passes(readings)) set_no_time(readings, estimates);
    if (estimates.intervals.empty()) return std::nullopt;
    return estimates;
}

}  // namespace coalprof
