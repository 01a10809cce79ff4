// The warps of a launch: blocks are cut into warps of 32 logical indices, the last one of a block
// or of the launch with fewer.
#pragma once

#include <cstdint>

#include "core/pattern/program.h"

namespace coalprof {

struct LaunchWarp {
    std::uint64_t index = 0;         // counted over the launch
    std::uint64_t first_thread = 0;  // logical index of lane 0
    std::uint32_t lanes = 0;         // that exist
};

std::uint64_t warp_count(const Program& program);
// Throws UsageError where the launch has no such warp.
LaunchWarp warp_at(const Program& program, std::uint64_t index);
// The first warp whose 32 lanes are active in every instruction; if there is none among the first
// 1024 warps, the first with the most active lanes.
LaunchWarp first_whole_warp(const Program& program);

}  // namespace coalprof
