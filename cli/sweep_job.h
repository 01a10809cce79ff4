// What all commands that sweep have in common: points are planned, a GPU is opened where there is
// one and it is wanted, and the result goes to the outputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/sweep_options.h"
#include "core/run/device.h"
#include "core/run/sweep.h"

namespace coalprof {

struct SweepJob {
    // The points for these machines; `launcher` is the GPU that will measure them, or null.
    std::function<std::vector<PlannedPoint>(const std::vector<Machine>&, KernelLauncher* launcher)>
        plan;
    NamedValues description;  // the head's sweep
    std::string parameter;    // the key of what varies
};

ExitCode run_sweep_job(const SweepJob& job, const MachineOptions& machine_options,
                       const OutputOptions& output_options, const Invocation& invocation);

}  // namespace coalprof
