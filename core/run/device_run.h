// Runs a sweep on a GPU with the model beside it. Time first, for every point; then the counters of
// all points in one session, because a session costs more than a point. Whatever fails, the points
// that are finished are delivered with the reason for what is missing.
#pragma once

#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/run/device.h"
#include "core/run/sweep.h"
#include "core/text/error.h"

namespace coalprof {

struct DeviceRun {
    KernelLauncher& launcher;
    CounterCollector* collector = nullptr;  // null: counters cannot be read; the reason:
    std::string no_counters;
    std::vector<Counter> wanted;
    std::uint64_t repeats = 20;  // 0: each point is launched once and not timed
    CacheState cache = CacheState::cold;
};

// The points that one GPU measures.
struct DeviceSweep {
    std::vector<PlannedPoint> points;
    DeviceRun run;
};

// One GPU after the other, in one result. `missing` says which could not be used; the result is
// partial then. head.device, head.devices, head.backend, head.passes and head.compares_settings are
// filled in here.
ExitCode run_sweep_on_devices(const std::vector<DeviceSweep>& sweeps,
                              const std::vector<Warning>& missing, ResultHead head,
                              ResultSink& sink);
// The same for one.
ExitCode run_sweep_on_device(std::vector<PlannedPoint> points, const ResultHead& head,
                             const DeviceRun& run, ResultSink& sink);

// What results say about the GPU that was measured.
NamedValues describe_device(const DeviceFacts& facts);

}  // namespace coalprof
