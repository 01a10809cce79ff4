#include "core/sim/mended_time.h"

#include <algorithm>
#include <bit>
#include <map>

#include "core/machine/rates.h"
#include "core/runtime/signal.h"

namespace coalprof {
namespace {

// The remaining share of an array's traffic with device memory: no more than warps need of it. All
// sites that reach the array for the same count together: L2 has a line that one of them loads for
// the others, whichever of them is fixed.
double share_left(const Code& code, const std::vector<double>& needed_bytes,
                  const std::vector<SiteTraffic>& traffic, std::uint32_t site,
                  double SiteTraffic::*bytes) {
    const PtxSite& one = code.sites[site];
    double moved = 0, needed = 0;
    for (std::size_t i = 0; i < code.sites.size(); ++i) {
        const PtxSite& other = code.sites[i];
        const bool is_same_array = !one.array.empty() && other.array == one.array;
        if (i != site && (!is_same_array || other.kind != one.kind)) continue;
        moved += traffic[i].*bytes;
        needed += needed_bytes[i];
    }
    return moved > 0 ? std::min(1.0, needed / moved) : 1;
}

// The share of a site's sectors in the traced blocks that a block touches for the first time.
double first_touches(const BlockTraces& traces, std::uint32_t site) {
    std::uint64_t all = 0, first = 0;
    for (const std::vector<WarpEvents>& block : traces.blocks) {
        std::map<std::uint64_t, std::uint8_t> touched;
        for (const WarpEvents& warp : block)
            for (const TraceEvent& event : warp.events)
                for (std::uint32_t i = 0; event.site == site && i < event.lines; ++i) {
                    const LineTouch& one = traces.lines[event.first_line + i];
                    std::uint8_t& before = touched[one.line];
                    all += static_cast<std::uint64_t>(sector_count(one.sectors));
                    first += static_cast<std::uint64_t>(sector_count(one.sectors & ~before));
                    before |= one.sectors;
                }
    }
    return all == 0 ? 1 : static_cast<double>(first) / static_cast<double>(all);
}

}  // namespace

SimulatedTime mended_time(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                          const Machine& machine, const SimulatedLaunch& simulated,
                          const std::vector<double>& needed_bytes, const SiteMends& mends) {
    LaunchModel model = simulated.model;
    model.traces =
        trace_blocks(code, launch, memory, machine, model.traced_blocks, mends, model.traced_share);
    if (!model.longest.blocks.empty())
        model.longest =
            trace_blocks(code, launch, memory, machine, {model.l2.longest_block}, mends);
    model.mended.resize(code.sites.size());
    const std::vector<double> before = sectors_of_sites(simulated.model.traces, code.sites.size()),
                              after = sectors_of_sites(model.traces, code.sites.size());
    for (std::uint32_t site = 0; site < code.sites.size(); ++site) {
        if (mends[site].kind == SiteMend::Kind::none) continue;
        const double sectors = before[site] > 0 ? after[site] / before[site] : 1;
        MendedShare& share = model.mended[site];
        share.sectors = sectors;
        model.totals.sectors[site] *= sectors;
        const bool is_store = code.sites[site].kind == AccessKind::store;
        if (mends[site].kind == SiteMend::Kind::in_register) model.totals.lines[site] *= sectors;
        if (mends[site].kind != SiteMend::Kind::adjacent) continue;
        const auto left = [&](double SiteTraffic::*bytes) {
            return share_left(code, needed_bytes, simulated.time.dram_of_site, site, bytes);
        };
        // Stores of whole sectors need no read first.
        share.read_bytes = is_store ? 0 : left(&SiteTraffic::read_bytes);
        share.write_bytes = left(&SiteTraffic::write_bytes);
    }
    stop_if_asked();
    return time_of(model, rates_of(machine)->sim);
}

SimulatedTime collected_time(const Machine& machine, const SimulatedLaunch& simulated,
                             const std::vector<std::uint32_t>& sites) {
    LaunchModel model = simulated.model;
    model.mended.resize(model.totals.sectors.size());
    for (const std::uint32_t site : sites) {
        const double share = first_touches(model.traces, site);
        model.mended[site].sectors = share;
        model.totals.sectors[site] *= share;
    }
    stop_if_asked();
    return time_of(model, rates_of(machine)->sim);
}

}  // namespace coalprof
