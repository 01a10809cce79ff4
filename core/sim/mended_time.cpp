#include "core/sim/mended_time.h"

#include <algorithm>

#include "core/machine/rates.h"

namespace coalprof {
namespace {

// The remaining share of an array's traffic with device memory: no more than warps need of it. All
// sites that reach the array for the same count together: L2 has a line that one of them loads for
// the others, whichever of them is fixed.
double share_left(const Code& code, const std::vector<SiteNeed>& needs,
                  const std::vector<SiteTraffic>& traffic, std::uint32_t site,
                  double SiteTraffic::*bytes) {
    const PtxSite& one = code.sites[site];
    double moved = 0, needed = 0;
    for (std::size_t i = 0; i < code.sites.size(); ++i) {
        const PtxSite& other = code.sites[i];
        const bool is_same_array = !one.array.empty() && other.array == one.array;
        if (i != site && (!is_same_array || other.kind != one.kind)) continue;
        moved += traffic[i].*bytes;
        needed += needs[i].bytes;
    }
    return moved > 0 ? std::min(1.0, needed / moved) : 1;
}

}  // namespace

SimulatedTime mended_time(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                          const Machine& machine, const SimulatedLaunch& simulated,
                          const std::vector<SiteNeed>& needs,
                          const std::vector<std::uint32_t>& sites) {
    LaunchModel model = simulated.model;
    std::vector<bool> is_mended(code.sites.size(), false);
    for (const std::uint32_t site : sites) is_mended[site] = true;
    model.traces = trace_blocks(code, launch, memory, machine, model.traced_blocks, is_mended);
    if (!model.longest.blocks.empty())
        model.longest =
            trace_blocks(code, launch, memory, machine, {model.l2.longest_block}, is_mended);
    model.mended.resize(code.sites.size());
    for (const std::uint32_t site : sites) {
        const auto left = [&](double SiteTraffic::*bytes) {
            return share_left(code, needs, simulated.time.dram_of_site, site, bytes);
        };
        // Sectors that are stored whole are not read first.
        const bool is_store = code.sites[site].kind == AccessKind::store;
        model.mended[site] = {.sectors = needs[site].sectors_share,
                              .read_bytes = is_store ? 0 : left(&SiteTraffic::read_bytes),
                              .write_bytes = left(&SiteTraffic::write_bytes)};
        model.totals.sectors[site] *= needs[site].sectors_share;
    }
    return time_of(model, rates_of(machine)->sim);
}

}  // namespace coalprof
