// Which warps of a launch are worth a drawing: the commonest, and the one that costs most.
#pragma once

#include <cstdint>
#include <optional>

#include "core/machine/machine.h"
#include "core/pattern/program.h"

namespace coalprof {

struct WarpSample {
    std::uint64_t common = 0;  // first of the warps that are alike most often
    std::optional<std::uint64_t> worst =
        {};  // the first that takes most, where that is another sort
};

// Counting one takes about a microsecond: nobody waits for more.
inline constexpr std::uint64_t most_warps_looked_at = 1ull << 16;

// Warps are alike whose instructions take as many sectors and lines. Of launches with more warps
// than are looked at, the first ones decide. Where sectors of global memory are not what counts,
// the first whole warp stands for all.
WarpSample sample_of(const Program& program, const Machine& machine,
                     std::uint64_t most_looked_at = most_warps_looked_at);

}  // namespace coalprof
