// The time of a launch without the waste of some of its accesses.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/kernel_time.h"

namespace coalprof {

// The launch with the words that `sites` reach adjacent, in the order in which warps reach them,
// simulated as the launch itself was. `needed_bytes`: by site, the bytes that its warps use.
SimulatedTime mended_time(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                          const Machine& machine, const SimulatedLaunch& simulated,
                          const std::vector<double>& needed_bytes,
                          const std::vector<std::uint32_t>& sites);

// The launch if words that `sites` load lay in different banks of L1, as padded rows do.
SimulatedTime padded_time(const Machine& machine, const SimulatedLaunch& simulated,
                          const std::vector<std::uint32_t>& sites);

// The launch if each block added to each word once, having collected its sums; without the cost of
// collecting. `sites`: reductions.
SimulatedTime collected_time(const Machine& machine, const SimulatedLaunch& simulated,
                             const std::vector<std::uint32_t>& sites);

}  // namespace coalprof
