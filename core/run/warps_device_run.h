// Replays a warps file on a GPU, one launch of one warp per line, with the model beside it. Lines
// are measured in batches, so that memory does not grow with the file.
#pragma once

#include <functional>
#include <string>

#include "core/machine/machine.h"
#include "core/result/result.h"
#include "core/run/device.h"
#include "core/text/error.h"

namespace coalprof {

struct WarpsDeviceRun {
    KernelLauncher& launcher;
    CounterCollector* collector = nullptr;  // null: counters cannot be read; the reason:
    std::string no_counters;
    // Counters to read for a warp that does this.
    std::function<std::vector<Counter>(AccessKind, Space)> wanted;
};

// `file` "-" is standard input. head.device, head.backend and head.passes are filled in here.
ExitCode run_warps_on_device(const std::string& file, const Machine& machine, ResultHead head,
                             const WarpsDeviceRun& run, ResultSink& sink);

}  // namespace coalprof
