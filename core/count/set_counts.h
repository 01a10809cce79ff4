// Counts of a model as readings: of one instruction, of all of a kind, of a single warp.
#pragma once

#include <optional>
#include <string_view>

#include "core/count/coalescer.h"
#include "core/count/near_memory.h"
#include "core/count/shared_memory.h"
#include "core/count/transactions.h"
#include "core/machine/machine.h"
#include "core/result/reading.h"

namespace coalprof {

// The count, or why it is not known.
Reading count_or_doubt(std::uint64_t count, Doubts doubts);
// The counters of L1 for one kind of access.
void set_l1(Readings& readings, AccessKind kind, const GlobalCounts& counts);
// The counters of machines before compute capability 7.0; `reason`: why they are not available.
void set_transactions(Readings& readings, AccessKind kind,
                      const std::optional<std::string_view>& reason,
                      const TransactionCounts& counts);
void set_shared(Readings& readings, const SharedRules& rules, AccessKind kind,
                const SharedCounts& counts);
// Atomics on shared memory: only the warp instructions are known.
void set_shared_atomics(Readings& readings, const Rules& rules, const SharedCounts& counts);
void set_local(Readings& readings, AccessKind kind, const LocalCounts& counts);

// Adds the counts of a later part; a counter unknown in one is unknown in the sum. Ratios are left
// to derive_ratios().
void add_counts(Readings& sum, const Readings& more);

}  // namespace coalprof
