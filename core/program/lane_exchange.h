// What lanes of a warp learn of each other: shuffles, votes, matches and reductions; and what an
// atomic makes of a number.
#pragma once

#include <cstdint>

#include "core/program/arithmetic.h"

namespace coalprof {

struct Exchanged {
    LaneValue first;           // of predicates bit n of at[0] is lane n
    std::uint32_t second = 0;  // a predicate, where the instruction has a second result
};
bool is_exchange(Opcode opcode);
// Among the active lanes. Throws BoxMustSplit.
void exchange(const PtxStep& step, const Inputs& in, std::uint32_t active, Exchanged& result);

// Of an atomic, `before` being what memory holds; of redux likewise.
std::uint64_t combined(const PtxStep& step, std::uint64_t before, std::uint64_t value);

}  // namespace coalprof
