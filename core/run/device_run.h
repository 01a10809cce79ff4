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

// head.device, head.backend and head.passes are filled in here.
ExitCode run_sweep_on_device(const std::vector<PlannedPoint>& points, ResultHead head,
                             const DeviceRun& run, ResultSink& sink);

// What results say about the GPU that was measured.
NamedValues describe_device(const DeviceFacts& facts);

}  // namespace coalprof
