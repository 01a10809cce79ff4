#include "core/run/host_start.h"

#include <fmt/format.h>

#include "core/count/predict.h"
#include "core/machine/rates.h"
#include "core/pattern/catalog.h"
#include "core/run/device_machine.h"
#include "core/traffic/estimate.h"

namespace coalprof {
namespace {

// Of a launch of 3 us: the median is steady, and nobody waits for it.
constexpr std::uint64_t repeats = 33;

Plan shortest_launch() {
    Plan plan;
    plan.pattern = "offset";
    plan.op = Op::load;
    plan.shape.size_bytes = 64 << 10;
    build_program(plan);
    return plan;
}

double predicted_seconds(const Machine& machine, const Plan& plan) {
    Readings readings = Predictor(machine).predict_launch(plan, {});
    add_estimates(machine, plan, CacheState::warm, readings);
    return number_in(readings[Counter::duration_seconds]);
}

}  // namespace

HostStart measure_start(KernelLauncher& launcher) {
    try {
        const Machine machine = machine_of(launcher.device());
        const std::optional<Rates> known = rates_of(machine);
        if (!known || machine.rules->global != GlobalRule::sectors_by_warp) return {};
        const Plan plan = shortest_launch();
        const double measured =
            launcher.prepare(plan)->time(repeats, CacheState::warm).median_seconds;
        const double seconds = known->start_seconds + measured - predicted_seconds(machine, plan);
        if (!(seconds > 0))
            return {Unavailable{"the shortest launch took less than the model gives it"}, nullptr};
        auto rates = std::make_shared<MeasuredRates>();
        rates->device = launcher.device().name;
        rates->rates = *known;
        set_start(rates->rates, seconds);
        rates->rates.starts = starts_about(seconds);
        return {seconds, std::move(rates)};
    } catch (const DeviceLostError&) {
        throw;
    } catch (const Error& error) {
        return {Unavailable{keep_reason(
                    fmt::format("the start of a launch could not be timed, so predicted times "
                                "have that of another host: {}",
                                error.what()))},
                nullptr};
    }
}

}  // namespace coalprof
