#include "core/explain/launch_warps.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/text/error.h"

namespace coalprof {
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
