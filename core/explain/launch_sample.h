// Which warps of a launch are worth a drawing: the commonest, and the one that costs most.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/machine/machine.h"
#include "core/pattern/program.h"
#include "core/result/reading.h"

namespace coalprof {

struct WarpSample {
    std::uint64_t common = 0;  // first of the warps that are alike most often
    std::optional<std::uint64_t> worst =
        {};  // the first that takes most, where that is another sort
};

// Counting one takes about a microsecond: nobody waits for more.
inline constexpr std::uint64_t most_warps_looked_at = 1ull << 16;

// What a request costs on average: sectors or passes above the ideal, then lines; in hundredths,
// since the launches that are compared need not be of one size.
using RequestCost = std::array<std::int64_t, 2>;
RequestCost request_cost(const Readings& readings);

// The launch, or so many warps of one that does not repeat, its first: walking more would be felt.
Program first_part(const Program& program, std::uint64_t most_warps = 1ull << 20);

// Atomics on shared memory, of which as many lanes as meet on a word take turns.
bool takes_turns(const Instruction& instruction);

// Of the warps that were looked at: how many have as many lanes on one word as the drawn one.
struct TurnCensus {
    std::uint64_t warps = 0;
    std::uint64_t alike = 0;
};
TurnCensus census_of_turns(const Program& program, const Instruction& instruction,
                           const WarpAccess& drawn);

// Warps are alike whose instructions take as many sectors and lines, or turns. Of launches with
// more warps than are looked at, the first ones decide. Where neither sectors of global memory nor
// turns are what counts, the first whole warp stands for all.
WarpSample sample_of(const Program& program, const Machine& machine,
                     std::uint64_t most_looked_at = most_warps_looked_at);

}  // namespace coalprof
