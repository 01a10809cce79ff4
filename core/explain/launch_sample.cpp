#include "core/explain/launch_sample.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "core/access/lane_set.h"
#include "core/count/coalescer.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// Sectors, or passes on the words of shared memory; lines; active lanes: of all instructions
// together.
using Cost = std::array<std::uint64_t, 3>;

struct Sort {
    std::uint64_t first = 0;  // warp
    std::uint64_t count = 0;
};

bool is_comparable(const Program& program, const Machine& machine) {
    return machine.rules->global == GlobalRule::sectors_by_warp &&
           std::all_of(program.instructions.begin(), program.instructions.end(),
                       [](const Instruction& one) {
                           return one.space == Space::global || takes_turns(one);
                       });
}

// The same as shape_of(), in a third of its time.
std::uint32_t turns_of(const WarpAccess& access) {
    std::array<std::uint64_t, warp_lanes> words{};
    std::size_t count = 0;
    each_lane(access.active_lanes,
              [&](std::uint32_t lane) { words[count++] = access.addresses[lane]; });
    std::sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
    std::uint32_t most = 0;
    std::uint32_t here = 0;
    for (std::size_t i = 0; i < count; ++i) {
        here = i > 0 && words[i] == words[i - 1] ? here + 1 : 1;
        most = std::max(most, here);
    }
    return most;
}

}  // namespace

RequestCost request_cost(const Readings& readings) {
    double above = number_or(readings[Counter::constant_requests], 0);
    double below = above > 0 ? 1 : 0;
    double lines = 0;
    const auto add = [&](Counter cost, Counter requests) {
        above += number_or(readings[cost], 0);
        below += number_or(readings[requests], 0);
    };
    for (const AccessKind kind : access_kinds) {
        add(access_counter(kind, AccessField::sectors),
            access_counter(kind, AccessField::requests));
        above -= number_or(readings[access_counter(kind, AccessField::ideal_sectors)], 0);
        lines += number_or(readings[access_counter(kind, AccessField::lines)], 0);
    }
    for (const AccessKind kind : {AccessKind::load, AccessKind::store})
        add(*shared_counters(kind).conflicts, shared_counters(kind).requests);
    add(Counter::local_load_sectors, Counter::local_load_requests);
    add(Counter::local_store_sectors, Counter::local_store_requests);
    if (below <= 0) return {};
    return {std::llround(above / below * 100), std::llround(lines / below * 100)};
}

Program first_part(const Program& program, std::uint64_t most_warps) {
    Program part = program;
    const auto repeats = [](const Instruction& one) { return one.formula->period().has_value(); };
    if (!std::all_of(program.instructions.begin(), program.instructions.end(), repeats))
        part.threads = std::min(part.threads, most_warps * warp_lanes);
    return part;
}

bool takes_turns(const Instruction& instruction) {
    return instruction.space == Space::shared && !is_load_or_store(instruction.kind);
}

WarpSample sample_of(const Program& program, const Machine& machine, std::uint64_t most_looked_at) {
    const std::uint64_t whole = first_whole_warp(program).index;
    if (!is_comparable(program, machine)) return {.common = whole};
    const Coalescer coalescer(*machine.rules);
    const auto cost_of = [&](const LaunchWarp& warp) {
        Cost cost{};
        for (const Instruction& instruction : program.instructions) {
            const WarpAccess access =
                access_of_warp(program, {}, instruction, warp.first_thread, warp.lanes);
            if (takes_turns(instruction)) {
                cost[0] += turns_of(access);
            } else {
                const GlobalCounts counts = coalescer.count(access);
                cost[0] += counts.sectors;
                cost[1] += counts.lines;
            }
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
    // The first of equally common shapes; the first whole warp where it has one of the commonest.
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

namespace {

std::uint64_t warps_in(std::uint64_t threads) { return (threads + warp_lanes - 1) / warp_lanes; }

// Lanes of the instruction that has the fewest.
int active_lanes(const Program& program, const LaunchWarp& warp) {
    int fewest = warp_lanes;
    for (const Instruction& instruction : program.instructions) {
        const WarpAccess access =
            access_of_warp(program, {}, instruction, warp.first_thread, warp.lanes);
        fewest = std::min(fewest, std::popcount(access.active_lanes));
    }
    return fewest;
}

}  // namespace

std::uint64_t warp_count(const Program& program) {
    return program.threads / program.block * warps_in(program.block) +
           warps_in(program.threads % program.block);
}

LaunchWarp warp_at(const Program& program, std::uint64_t index) {
    const std::uint64_t count = warp_count(program);
    if (index >= count)
        throw UsageError(
            fmt::format("--warp {}: the launch has {} warps, counted from 0", index, count));
    const std::uint64_t per_block = warps_in(program.block);
    const std::uint64_t block_begin = index / per_block * program.block;
    const std::uint64_t first = block_begin + index % per_block * warp_lanes;
    const std::uint64_t end = std::min(block_begin + program.block, program.threads);
    return {index, first,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, end - first))};
}

LaunchWarp first_whole_warp(const Program& program) {
    constexpr std::uint64_t most_tried = 1024;
    LaunchWarp best = warp_at(program, 0);
    int most = active_lanes(program, best);
    const std::uint64_t tried = std::min(warp_count(program), most_tried);
    for (std::uint64_t i = 1; i < tried && most < static_cast<int>(warp_lanes); ++i) {
        const LaunchWarp warp = warp_at(program, i);
        const int lanes = active_lanes(program, warp);
        if (lanes <= most) continue;
        best = warp;
        most = lanes;
    }
    return best;
}

}  // namespace coalprof
