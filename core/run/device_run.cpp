#include "core/run/device_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <utility>

#include "core/run/stop.h"
#include "core/run/sweep_on_device.h"

namespace coalprof {
namespace {

// All names in one, as the head says them of several machines.
NamedValues described_together(const std::vector<NamedValues>& devices) {
    std::string names;
    for (const NamedValues& device : devices)
        for (const auto& [key, value] : device)
            if (const auto* name = std::get_if<std::string>(&value); name && key == "name")
                names += (names.empty() ? "" : ",") + *name;
    return {{"name", names}};
}

// The worst of them: what was interrupted is also incomplete.
Status together(Status a, Status b) { return std::max(a, b); }
static_assert(Status::complete < Status::partial && Status::partial < Status::interrupted);

}  // namespace

NamedValues describe_device(const DeviceFacts& facts) {
    const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    return {
        {"index", std::int64_t{facts.index}},
        {"name", facts.name},
        {"uuid", facts.uuid},
        {"pci_bus_id", facts.pci_bus_id},
        {"compute_capability", fmt::format("{}.{}", facts.major, facts.minor)},
        {"multiprocessors", std::int64_t{facts.multiprocessors}},
        {"l2_bytes", integer(facts.l2_bytes)},
        {"memory_bytes", integer(facts.memory_bytes)},
        {"clock_hz", integer(facts.clock_hz)},
        {"memory_clock_hz", integer(facts.memory_clock_hz)},
        {"memory_bus_bits", std::int64_t{facts.memory_bus_bits}},
        {"ecc", facts.ecc},
        {"driver_version", std::int64_t{facts.driver_version}},
        {"nvrtc_version", std::int64_t{facts.nvrtc_version}},
    };
}

ExitCode run_sweep_on_device(std::vector<PlannedPoint> points, const ResultHead& head,
                             const DeviceRun& run, ResultSink& sink) {
    std::vector<DeviceSweep> sweeps;
    sweeps.push_back({std::move(points), run});
    return run_sweep_on_devices(sweeps, {}, head, sink);
}

ExitCode run_sweep_on_devices(const std::vector<DeviceSweep>& sweeps,
                              const std::vector<Warning>& missing, ResultHead head,
                              ResultSink& sink) {
    SettingsJudge judge;
    std::list<SweepOnDevice> running;
    std::vector<NamedValues> devices;
    head.backend = "device";
    for (const DeviceSweep& sweep : sweeps) {
        SweepOnDevice& one = running.emplace_back(sweep, sweeps.size() > 1, judge, sink);
        devices.push_back(one.prepare());
        head.compares_settings |= !sweep.points.empty() && !sweep.points.front().settings.empty();
        head.passes = std::max(head.passes, one.passes());
    }
    head.device = devices.size() == 1 ? devices.front() : described_together(devices);
    if (devices.size() > 1) head.devices = devices;
    sink.begin(head);
    ResultTail tail{missing.empty() ? Status::complete : Status::partial, missing};
    for (SweepOnDevice& one : running) {
        one.run();
        tail.status = together(tail.status, one.status());
        tail.warnings.insert(tail.warnings.end(), one.warnings().begin(), one.warnings().end());
    }
    tail.verdicts = judge.verdicts();
    sink.finish(tail);
    return exit_code_of(tail.status);
}

}  // namespace coalprof
