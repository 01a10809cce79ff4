#include "core/explain/launch_sample.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "core/explain/launch_warps.h"
#include "core/model/coalescer.h"

namespace coalprof {
namespace {

// Sectors, lines, active lanes of all instructions together.
using Cost = std::array<std::uint64_t, 3>;

struct Sort {
    std::uint64_t first = 0;  // warp
    std::uint64_t count = 0;
};

bool counts_sectors(const Program& program, const Machine& machine) {
    return machine.rules->global == GlobalRule::sectors_by_warp &&
           std::all_of(program.instructions.begin(), program.instructions.end(),
                       [](const Instruction& one) { return one.space == Space::global; });
}

}  // namespace

WarpSample sample_of(const Program& program, const Machine& machine, std::uint64_t most_looked_at) {
    const std::uint64_t whole = first_whole_warp(program).index;
    if (!counts_sectors(program, machine)) return {.common = whole};
    const Coalescer coalescer(*machine.rules);
    const auto cost_of = [&](const LaunchWarp& warp) {
        Cost cost{};
        for (const Instruction& instruction : program.instructions) {
            const WarpAccess access =
                access_of_warp(program, {}, instruction, warp.first_thread, warp.lanes);
            const GlobalCounts counts = coalescer.count(access);
            cost[0] += counts.sectors;
            cost[1] += counts.lines;
            cost[2] += static_cast<std::uint64_t>(std::popcount(access.active_lanes));
        }
        return cost;
    };
    std::map<Cost, Sort> sorts;
    const std::uint64_t count = std::min(warp_count(program), most_looked_at);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto [sort, is_new] = sorts.try_emplace(cost_of(warp_at(program, i)));
        if (is_new) sort->second.first = i;
        ++sort->second.count;
    }
    // Of sorts that are as common the first; the first whole warp where it is one of the commonest.
    const auto common =
        std::max_element(sorts.begin(), sorts.end(), [](const auto& a, const auto& b) {
            return a.second.count != b.second.count ? a.second.count < b.second.count
                                                    : a.second.first > b.second.first;
        });
    const auto worst = std::prev(sorts.end());
    WarpSample sample{.common = common->second.first};
    if (const auto of_whole = sorts.find(cost_of(warp_at(program, whole)));
        of_whole != sorts.end() && of_whole->second.count == common->second.count)
        sample.common = whole;
    const bool is_costlier =
        worst->first[0] > common->first[0] ||
        (worst->first[0] == common->first[0] && worst->first[1] > common->first[1]);
    if (is_costlier) sample.worst = worst->second.first;
    return sample;
}

}  // namespace coalprof
