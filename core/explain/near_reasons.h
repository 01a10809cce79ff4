// The reasons for the cost of a warp's access to shared, constant or local memory, and a fix.
#pragma once

#include <span>

#include "core/explain/near_memory.h"
#include "core/explain/reasons.h"
#include "core/explain/shape.h"

namespace coalprof {

Reasons shared_reasons_of(const WarpShape& shape, const BankUse& use);
// For atomics and reductions, whose passes through the banks are not known.
Reasons shared_atomic_reasons_of(const WarpShape& shape);
// `instructions`: how many a lane's element takes.
Reasons constant_reasons_of(const WarpShape& shape, std::size_t passes, std::size_t instructions);
// `shape` is that of the lanes' own addresses, `lines` are in the interleaved memory.
Reasons local_reasons_of(const WarpShape& shape, std::span<const TouchedLine> lines);

// The fewest sectors for this number of lanes and this width: all at the same place of their
// arrays.
std::uint32_t ideal_local_sectors(const WarpShape& shape);
std::uint32_t sectors_in(std::span<const TouchedLine> lines);

}  // namespace coalprof
