// Exchanges between the lanes of a warp: shuffles, votes, matches and reductions; and the
// arithmetic of atomics.
#pragma once

#include <cstdint>

#include "core/program/arithmetic.h"

namespace coalprof {

struct Exchanged {
    LaneValue first;           // for predicates bit n of at[0] is lane n
    std::uint32_t second = 0;  // a predicate, for instructions with two results
};
bool is_exchange(Opcode opcode);
// Among the active lanes. Throws BoxMustSplit.
void exchange(const PtxStep& step, const Inputs& in, std::uint32_t active, Exchanged& result);

// The result of an atomic, `before` being the content of memory; of redux likewise.
std::uint64_t combined(const PtxStep& step, std::uint64_t before, std::uint64_t value);

}  // namespace coalprof
