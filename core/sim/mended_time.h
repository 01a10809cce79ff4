// The time of a launch without the waste of some of its accesses.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/kernel_time.h"

namespace coalprof {

// The least that a site's accesses need.
struct SiteNeed {
    double sectors_share = 1;  // share of sectors that could hold the same bytes
    double bytes = 0;          // that warps need, once each
};

// The launch with the words that `sites` reach adjacent, in the order in which warps reach them,
// simulated as the launch itself was. `needs`: by site.
SimulatedTime mended_time(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                          const Machine& machine, const SimulatedLaunch& simulated,
                          const std::vector<SiteNeed>& needs,
                          const std::vector<std::uint32_t>& sites);

// The launch if each block added to each word once, having collected its sums; without the cost of
// collecting. `sites`: reductions.
SimulatedTime collected_time(const Machine& machine, const SimulatedLaunch& simulated,
                             const std::vector<std::uint32_t>& sites);

}  // namespace coalprof
