// What mending a finding saves of a kernel's time.
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

// Simulates the launch without the waste of each finding in turn. A finding whose mending gains no
// time says so instead of a fix; what L1 already has of it is told. `scale`: blocks for each one
// that was counted. Those that save most come first.
void price_findings(KernelResult& result, const PricedLaunch& priced,
                    const std::vector<SiteCounts>& counts, double scale);

}  // namespace coalprof
