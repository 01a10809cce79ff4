// Shared memory: how many passes (wavefronts) one load or store of one warp takes through the
// banks. Exact for compute capability 9.0, where every measured warp agrees; for the others the
// documented rules, whose numbers are data of the machine (core/machine/rules.h).
#pragma once

#include <cstdint>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"

namespace coalprof {

// Counts of one instruction of one warp, or sums of them.
struct SharedCounts {
    std::uint64_t requests = 0;  // instructions with an active lane
    std::uint64_t wavefronts = 0;
    std::uint64_t ideal_wavefronts = 0;  // for this width and these active lanes
    // Fewer or more wavefronts are possible: where the machine chooses (1.x), or where it is not
    // known if groups merge (5.x and 6.x).
    std::uint64_t fewer = 0;
    std::uint64_t more = 0;
    std::uint64_t fewer_conflicts = 0;
    std::uint64_t more_conflicts = 0;
    std::uint64_t conflicts() const { return wavefronts - ideal_wavefronts; }
    void add(const SharedCounts& other, std::uint64_t times = 1);
    friend bool operator==(const SharedCounts&, const SharedCounts&) = default;
};

class SharedMemory {
 public:
    explicit SharedMemory(const Rules& rules);
    // `access` is a shared load or store, its addresses multiples of its width.
    SharedCounts count(const WarpAccess& access) const;
    // Neighbouring lanes that go through the banks together.
    std::uint32_t lanes_together(const WarpAccess& access) const;

 private:
    bool pairs_agree(const WarpAccess& access) const;
    SharedCounts count_groups(const WarpAccess& access, std::uint32_t lanes) const;
    std::uint32_t passes(const WarpAccess& access, std::uint32_t lanes) const;
    SharedCounts count_broadcasts(const WarpAccess& access) const;
    struct Steps {
        std::uint32_t fewest;
        std::uint32_t most;
    };
    Steps possible_steps(const WarpAccess& access, std::uint32_t waiting) const;
    std::uint32_t served_by_broadcast(const WarpAccess& access, std::uint32_t waiting) const;

    SharedRules rules_;
    std::uint32_t bank_shift_;
    std::uint32_t row_shift_;
};

// Passes of atomics on shared memory. An H100 counted as many for single warps, of 88 patterns of
// addresses and 7 operations of 4 bytes.
enum class SharedAtomic : std::uint8_t {
    by_lane,  // of 4 bytes, integers and exchanges: all lanes of a bank one after the other
    by_word,  // adds 1 and nobody reads the result (ATOMS.POPC.INC): lanes of a word together
    twice,    // compares and swaps: two passes where others take one
    unknown,  // reals and 8 bytes: a loop, whose rounds depend on other warps
};

// With `more`, and no passes, where they are not known.
SharedCounts count_shared_atomic(const WarpAccess& access, SharedAtomic sort);

}  // namespace coalprof
