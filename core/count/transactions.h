// Global memory before compute capability 7.0: the groups of lanes a warp instruction is split into
// and the transactions of 32, 64 and 128 bytes they become. The rules and their numbers are data of
// the machine (core/machine/rules.h), whose sources are NVIDIA's guides: most of these generations
// can no longer be measured, and results say "documented, not measured".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"
#include "core/pattern/plan.h"

namespace coalprof {

// Counts of one instruction of one warp, or sums of them.
struct TransactionCounts {
    std::uint64_t requests = 0;  // instructions with an active lane
    std::uint64_t of_32_bytes = 0;
    std::uint64_t of_64_bytes = 0;
    std::uint64_t of_128_bytes = 0;
    std::uint64_t more = 0;          // transactions of 32 bytes that sources dispute
    std::uint64_t unique_bytes = 0;  // distinct bytes asked for
    std::uint64_t active_bytes = 0;  // active lanes x width, duplicates included

    std::uint64_t transactions() const { return of_32_bytes + of_64_bytes + of_128_bytes; }
    std::uint64_t transaction_bytes() const {
        return 32 * of_32_bytes + 64 * of_64_bytes + 128 * of_128_bytes;
    }
    // 32-byte sectors moved; on 5.x and 6.x all that nvprof's efficiencies count.
    std::uint64_t sectors() const { return transaction_bytes() / sector_bytes; }
    void add(const TransactionCounts& other, std::uint64_t times = 1);
    friend bool operator==(const TransactionCounts&, const TransactionCounts&) = default;
};

// The -dlcm that equals giving none: ca where L1 keeps global loads by default, else cg.
LoadModifier usual_load_modifier(const Rules& rules);
// True if L1 keeps global loads compiled with `modifier`.
bool keeps_in_l1(const Rules& rules, LoadModifier modifier);

class Transactions {
 public:
    // `modifier` concerns loads.
    Transactions(const Rules& rules, LoadModifier modifier);
    // A global load or store whose addresses are multiples of its width; for atomics see
    // unavailable().
    TransactionCounts count(const WarpAccess& access) const;

    // Lanes whose transactions are formed together.
    std::uint32_t request_lanes(std::uint32_t width_bytes) const {
        return numbers_.request_lanes.lanes(width_bytes);
    }
    // The reason why `kind` has no transactions on this machine; none: it has.
    std::optional<std::string_view> unavailable(AccessKind kind) const;

 private:
    // The size of a transaction where all have one size.
    std::uint32_t block_bytes(AccessKind kind) const {
        return kind == AccessKind::load ? load_bytes_ : numbers_.smallest_bytes;
    }
    bool goes_together(const WarpAccess& access, std::uint32_t lanes) const;
    void count_blocks(const WarpAccess& access, TransactionCounts& counts) const;
    std::uint64_t unjoined(const WarpAccess& access, std::uint32_t lanes) const;
    void count_in_order(const WarpAccess& access, TransactionCounts& counts) const;
    void count_segments(const WarpAccess& access, TransactionCounts& counts) const;

    GlobalRule rule_;
    TransactionRules numbers_;
    std::uint32_t load_bytes_;  // of one transaction of a load
};

}  // namespace coalprof
