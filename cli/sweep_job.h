// The part that all sweeping commands share: points are checked, a GPU is opened where there is one
// and it is wanted, and the result goes to the outputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/sweep_options.h"
#include "core/device/device.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

struct SweepJob {
    // The points on these machines, measured by `launcher`, which has the number `device` where
    // several GPUs measure. Both are empty with the model alone.
    std::function<std::unique_ptr<SweptPoints>(const std::vector<Machine>& machines,
                                               KernelLauncher* launcher, std::optional<int> device)>
        points;
    SweepFacts description;  // the head's sweep
};

ExitCode run_sweep_job(const SweepJob& job, const MachineOptions& machine_options,
                       const OutputOptions& output_options, const Invocation& invocation);

}  // namespace coalprof
