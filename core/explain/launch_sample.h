// The warps of a launch that are worth a drawing: the commonest, and the one that costs most.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/machine/machine.h"
#include "core/pattern/program.h"
#include "core/result/reading.h"

namespace coalprof {

struct WarpSample {
    std::uint64_t common = 0;                 // first of the warps of the commonest shape
    std::optional<std::uint64_t> worst = {};  // the first that takes most, if of another shape
};

// Counting one takes about a microsecond: more would take too long.
inline constexpr std::uint64_t most_warps_looked_at = 1ull << 16;

// A request's average cost: sectors or passes above the ideal, then lines; in hundredths, since the
// compared launches may differ in size.
using RequestCost = std::array<std::int64_t, 2>;
RequestCost request_cost(const Readings& readings);

// The launch, or the first `most_warps` warps of one that does not repeat: walking more would be
// felt.
Program first_part(const Program& program, std::uint64_t most_warps = 1ull << 20);

// True for atomics on shared memory, which serialize the lanes of one word.
bool takes_turns(const Instruction& instruction);

// Warps have one shape if their instructions take as many sectors and lines, or passes. In launches
// with more warps than are sampled, the first ones decide. Where neither sectors of global memory
// nor passes count, the first whole warp stands for all.
WarpSample sample_of(const Program& program, const Machine& machine,
                     std::uint64_t most_looked_at = most_warps_looked_at);

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
