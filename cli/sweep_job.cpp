#include "cli/sweep_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/result_head.h"
#include "cli/wiring.h"
#include "core/model/transactions.h"
#include "core/run/device_machine.h"
#include "core/run/device_run.h"
#include "core/run/sweep_run.h"

namespace coalprof {
namespace {

// The GPUs of this run; none where the model answers alone.
struct Devices {
    std::vector<DeviceAccess> opened;
    std::vector<Warning> missing;  // those of `--device all` that could not be opened
    bool are_all = false;          // of several: points say theirs
};

DeviceRequest request_for(const MachineOptions& machine, const PlannedPoint& first, int index) {
    return {.index = index,
            .ahead = {first.plan},
            .wants_counters = machine.counters != "none",
            .wants_ceilings = machine.repeats() > 0};
}

Devices open_every_device(const MachineOptions& machine, const PlannedPoint& first, int count) {
    Devices devices;
    devices.are_all = true;
    for (int index = 0; index < count; ++index) {
        DeviceAccess access = open_device(request_for(machine, first, index));
        if (access.launcher)
            devices.opened.push_back(std::move(access));
        else
            devices.missing.push_back(
                {"W-NO-DEVICE", {}, fmt::format("device {}: {}", index, access.no_gpu)});
    }
    return devices;
}

Devices devices_for(const MachineOptions& machine, const OutputOptions& output,
                    const PlannedPoint& first) {
    const auto backend = machine.chosen_backend();
    const std::optional<int> index = machine.device_index();
    const bool demanded = backend == MachineOptions::Backend::device;
    // A machine that is named is to be predicted; measuring another beside it says nothing.
    if (backend == MachineOptions::Backend::model || (!machine.machine.empty() && !demanded))
        return {};
    const std::future<void> loading = load_counters_ahead(machine.counters != "none");
    if (!index)
        if (const int count = count_devices(); count > 1) {
            Devices devices = open_every_device(machine, first, count);
            if (!devices.opened.empty()) return devices;
        }
    DeviceAccess access = open_device(request_for(machine, first, index.value_or(0)));
    if (!access.launcher) {
        if (demanded) throw Error(fmt::format("--backend device: {}", access.no_gpu));
        output.note(fmt::format("{}; the model answers alone", access.no_gpu));
        return {};
    }
    Devices devices;
    devices.opened.push_back(std::move(access));
    return devices;
}

void label_with_device(std::vector<PlannedPoint>& points, int index) {
    for (PlannedPoint& point : points) {
        point.parameters.emplace_back("device", std::int64_t{index});
        point.scope.emplace_back("device", std::int64_t{index});
        point.name += fmt::format(" device={}", index);
    }
}

// What a machine is called decides whether it is told apart from the others.
void add_machine(std::vector<Machine>& machines, const Machine& machine) {
    const auto is_known = [&](const Machine& other) { return other.name == machine.name; };
    if (std::none_of(machines.begin(), machines.end(), is_known)) machines.push_back(machine);
}

// Counters asked for by name and not to be had: everything else was delivered, but not that.
ExitCode judged(ExitCode code, const MachineOptions& machine, const Devices& devices) {
    const bool demanded = !machine.counters.empty() && machine.counters != "none";
    const bool had =
        std::all_of(devices.opened.begin(), devices.opened.end(),
                    [](const DeviceAccess& device) { return device.collector != nullptr; });
    return demanded && !had && code == ExitCode::done ? ExitCode::environment : code;
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
    const std::vector<Machine> named = machine_options.machines();
    const std::vector<PlannedPoint> planned = job.plan(named, nullptr);
    const std::uint64_t repeats = machine_options.repeats();
    const CacheState cache = machine_options.is_cold() ? CacheState::cold : CacheState::warm;
    ResultHead head = head_of(invocation.argv);
    head.backend = "model";
    head.sweep = job.description;
    head.parameter = job.parameter;
    head.columns = counters_listed(machine_options.counters);
    Outputs outputs(output_options.targets(), [&](const std::vector<Warning>& warnings) {
        // That one is said below, before anything is launched.
        output_options.note_warnings(warnings, "W-NO-COUNTERS");
    });

    const Devices devices = devices_for(machine_options, output_options, planned.front());
    if (devices.opened.empty()) {
        add_usual_modifier(head.sweep, named, planned);
        head.machine = describe_machines(named);
        head.points = planned.size();
        return run_sweep(planned, head, outputs);
    }

    std::vector<Machine> predicted;
    std::vector<DeviceSweep> sweeps;
    for (const DeviceAccess& device : devices.opened) {
        KernelLauncher& launcher = *device.launcher;
        if (devices.are_all) launcher.activate();  // it may be asked for a pitch
        const std::vector<Machine> machines =
            machine_options.machine.empty() ? std::vector{machine_of(launcher.device())} : named;
        for (const Machine& machine : machines) add_machine(predicted, machine);
        std::vector<PlannedPoint> points = job.plan(machines, &launcher);
        if (devices.are_all) label_with_device(points, launcher.device().index);
        std::vector<Counter> wanted = counters_named(machine_options.counters, points);
        if (!device.no_counters.empty()) output_options.note(device.no_counters);
        sweeps.push_back({std::move(points),
                          {.launcher = launcher,
                           .collector = device.collector.get(),
                           .no_counters = device.no_counters,
                           .wanted = std::move(wanted),
                           .repeats = repeats,
                           .cache = cache}});
    }
    add_usual_modifier(head.sweep, predicted, planned);
    head.machine = describe_machines(predicted);
    head.points = sweeps.size() * sweeps.front().points.size();
    head.sweep.emplace_back("repeat", static_cast<std::int64_t>(repeats));
    head.sweep.emplace_back("cache", machine_options.cache);
    return judged(run_sweep_on_devices(sweeps, devices.missing, head, outputs), machine_options,
                  devices);
}

}  // namespace coalprof
