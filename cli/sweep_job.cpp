#include "cli/sweep_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/device_machine.h"
#include "cli/result_head.h"
#include "cli/wiring.h"
#include "core/model/transactions.h"
#include "core/run/device_run.h"
#include "core/run/sweep_run.h"

namespace coalprof {
namespace {

// The GPU of this run, or none where the model answers alone.
DeviceAccess device_for(const MachineOptions& machine, const OutputOptions& output,
                        const PlannedPoint& first) {
    const auto backend = machine.chosen_backend();
    const bool demanded = backend == MachineOptions::Backend::device;
    // A machine that is named is to be predicted; measuring another beside it says nothing.
    if (backend == MachineOptions::Backend::model || (!machine.machine.empty() && !demanded))
        return {};
    DeviceAccess access =
        open_device(machine.device_index(), {first.plan}, machine.counters != "none");
    if (access.launcher) return access;
    if (demanded) throw Error(fmt::format("--backend device: {}", access.no_gpu));
    output.note(fmt::format("{}; the model answers alone", access.no_gpu));
    return access;
}

// Every kind of instruction that some point has, once: what decides which counters are read.
Program kinds_of(const std::vector<PlannedPoint>& points) {
    Program kinds;
    for (const PlannedPoint& point : points)
        for (const Instruction& instruction : point.plan.program.instructions) {
            const auto is_alike = [&](const Instruction& known) {
                return known.kind == instruction.kind && known.space == instruction.space;
            };
            if (std::none_of(kinds.instructions.begin(), kinds.instructions.end(), is_alike))
                kinds.instructions.push_back(instruction);
        }
    return kinds;
}

// Without --dlcm each machine does what it always does: the result says what that is.
void add_usual_modifier(NamedValues& sweep, const std::vector<Machine>& machines,
                        const std::vector<PlannedPoint>& points) {
    const auto has_it = [](const NamedValues& values) {
        return std::any_of(values.begin(), values.end(),
                           [](const auto& value) { return value.first == "dlcm"; });
    };
    if (has_it(sweep) || has_it(points.front().parameters)) return;
    std::string text(name_of(usual_load_modifier(*machines.front().rules)));
    const auto differs = [&](const Machine& machine) {
        return name_of(usual_load_modifier(*machine.rules)) != text;
    };
    if (std::any_of(machines.begin(), machines.end(), differs)) {
        text.clear();
        for (const Machine& machine : machines)
            text += fmt::format("{}{} on {}", text.empty() ? "" : ", ",
                                name_of(usual_load_modifier(*machine.rules)), machine.name);
    }
    sweep.emplace_back("dlcm", text);
}

}  // namespace

ExitCode run_sweep_job(const SweepJob& job, const MachineOptions& machine_options,
                       const OutputOptions& output_options, const Invocation& invocation) {
    std::vector<Machine> machines = machine_options.machines();
    std::vector<PlannedPoint> points = job.plan(machines, nullptr);
    const auto listed = counters_listed(machine_options.counters);
    const std::uint64_t repeats = machine_options.repeats();
    const CacheState cache = machine_options.is_cold() ? CacheState::cold : CacheState::warm;
    Outputs outputs(output_options.targets());

    DeviceAccess device = device_for(machine_options, output_options, points.front());
    if (device.launcher) {
        if (machine_options.machine.empty()) machines = {machine_of(device.launcher->device())};
        points = job.plan(machines, device.launcher.get());
    }
    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines(machines);
    head.backend = "model";
    head.sweep = job.description;
    add_usual_modifier(head.sweep, machines, points);
    head.parameter = job.parameter;
    head.points = points.size();
    head.columns = listed;
    if (!device.launcher) return run_sweep(points, head, outputs);

    head.sweep.emplace_back("repeat", static_cast<std::int64_t>(repeats));
    head.sweep.emplace_back("cache", machine_options.cache);
    if (!device.no_counters.empty()) output_options.note(device.no_counters);
    const ExitCode code =
        run_sweep_on_device(points, head,
                            {.launcher = *device.launcher,
                             .collector = device.collector.get(),
                             .no_counters = device.no_counters,
                             .wanted = counters_named(machine_options.counters, kinds_of(points)),
                             .repeats = repeats,
                             .cache = cache},
                            outputs);
    // Asked for by name and not to be had: everything else was delivered, but not that.
    const bool demanded = !machine_options.counters.empty() && machine_options.counters != "none";
    return demanded && !device.collector && code == ExitCode::done ? ExitCode::environment : code;
}

}  // namespace coalprof
