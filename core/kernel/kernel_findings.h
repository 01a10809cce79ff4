// Findings of accesses that ask for no sector too many, but more often than they need to (loads of
// rows whose words lie in the same banks of L1, stores that a register could collect), and the part
// of a kernel's time that mending any finding saves.
#pragma once

#include <vector>

#include "core/kernel/kernel_points.h"
#include "core/sim/kernel_time.h"

namespace coalprof {

// For a kernel that L1 limits, whose lines have their passes and costs. A line that has a finding
// gets no other.
void add_pass_findings(KernelResult& result);
// Stores of a warp to the same places in round after round of a loop.
void add_repeat_findings(KernelResult& result, const Code& code, const KernelLaunch& launch,
                         const std::vector<SiteCounts>& counts);

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
