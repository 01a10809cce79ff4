// The part of a kernel's time that fixing a finding saves.
#pragma once

#include <vector>

#include "core/kernel/kernel_points.h"
#include "core/sim/kernel_time.h"

namespace coalprof {

struct PricedLaunch {
    const Code& code;
    const KernelLaunch& launch;
    const LaunchMemory& memory;
    const Machine& machine;
    const SimulatedLaunch& simulated;
};

// Simulates the launch without the waste of each finding in turn. A finding whose fix gains no time
// says so instead; it also names the part that L1 already serves. `scale`: blocks for each one that
// was counted. Those that save most come first.
void price_findings(KernelResult& result, const PricedLaunch& priced,
                    const std::vector<SiteCounts>& counts, double scale);

}  // namespace coalprof
