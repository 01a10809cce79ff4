#include "core/run/device_ceilings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/count/predict.h"
#include "core/machine/rates.h"
#include "core/pattern/memory_settings.h"
#include "core/sim/estimate.h"
#include "core/sweep/patterns.h"

namespace coalprof {

namespace {

Reading ceiling_or_reason(double bytes_per_second) {
    if (bytes_per_second > 0) return bytes_per_second;
    return Unavailable{"this GPU's ceiling was too fast for the clock, so there is no share of it"};
}

bool only_loads(const Program& program) {
    return std::all_of(program.instructions.begin(), program.instructions.end(),
                       [](const Instruction& one) {
                           return one.space != Space::global || one.kind == AccessKind::load;
                       });
}

}  // namespace

DeviceCeilings measure_ceilings(KernelLauncher& launcher) {
    try {
        const Reading read = ceiling_or_reason(launcher.read_ceiling());
        return {read, ceiling_or_reason(launcher.copy_ceiling())};
    } catch (const DeviceLostError&) {
        throw;
    } catch (const Error& error) {
        const Unavailable reason{keep_reason(
            fmt::format("this GPU's ceilings could not be measured: {}", error.what()))};
        return {reason, reason};
    }
}

Reading bandwidth_share(const DeviceCeilings& ceilings, const Program& program,
                        const Reading& bandwidth) {
    const Reading& ceiling = only_loads(program) ? ceilings.read : ceilings.copy;
    if (!is_present(ceiling) || !is_present(bandwidth) || !touches_global_memory(program))
        return {};
    if (!is_number(bandwidth)) return bandwidth;
    if (!is_number(ceiling)) return ceiling;
    return number_in(bandwidth) / number_in(ceiling);
}

Machine machine_of(const DeviceFacts& facts) {
    return machine_of_device({facts.major, facts.minor}, facts.name,
                             DeviceSizes{facts.multiprocessors, facts.peak_bytes_per_second(),
                                         facts.l2_bytes, facts.memory_bytes});
}

namespace {

// Repeats of a launch of 3 us: the median is steady, and it takes no noticeable time.
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
        const double seconds =
            known->sim.launch_seconds + measured - predicted_seconds(machine, plan);
        if (!(seconds > 0))
            return {Unavailable{"the shortest launch took less than the model gives it"}, nullptr};
        auto rates = std::make_shared<MeasuredRates>();
        rates->device = launcher.device().name;
        rates->rates = *known;
        rates->rates.sim.launch_seconds = seconds;
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
