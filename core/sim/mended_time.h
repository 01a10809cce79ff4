// The time of a launch without the waste of some of its accesses.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/kernel_time.h"

namespace coalprof {

// The launch with mended accesses, simulated as the launch itself was. `needed_bytes`: by site, the
// bytes that its warps use.
SimulatedTime mended_time(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                          const Machine& machine, const SimulatedLaunch& simulated,
                          const std::vector<double>& needed_bytes, const SiteMends& mends);

// The launch if each block added to each word once, having collected its sums; without the cost of
// collecting. `sites`: reductions.
SimulatedTime collected_time(const Machine& machine, const SimulatedLaunch& simulated,
                             const std::vector<std::uint32_t>& sites);

}  // namespace coalprof
