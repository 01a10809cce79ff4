// One instruction of a warp in global memory before compute capability 7.0: the groups of lanes
// into which it is split and the blocks that their transactions move.
#pragma once

#include <cstdint>
#include <vector>

#include "core/count/transactions.h"
#include "core/explain/reasons.h"
#include "core/explain/shape.h"
#include "core/machine/rules.h"

namespace coalprof {

struct TransactionUse {
    TransactionCounts counts;
    std::uint32_t group_lanes = warp_lanes;  // whose transactions are formed together
    std::uint32_t groups = 0;                // with an active lane
    // Groups whose lanes are not in order, so that each lane is a transaction (1.0 and 1.1).
    std::uint32_t out_of_order = 0;
    std::vector<MovedBlock> blocks;  // one for each transaction
};

// A load, with the caching that the machine's compiler chooses by default, or a store.
TransactionUse transaction_use_of(const WarpAccess& access, const Rules& rules);

// Marks the sectors that the blocks move beside those that the lanes touch.
void mark_moved(const std::vector<MovedBlock>& blocks, std::vector<TouchedLine>& lines);

Reasons transaction_reasons_of(const WarpAccess& access, const WarpShape& shape, Purpose purpose,
                               const TransactionUse& use, const Rules& rules);

// "2 of 64 bytes and 1 of 32"
std::string sizes_text(const TransactionCounts& counts);

}  // namespace coalprof
