// The coalescer of compute capability 7.0 and later: from one global-memory instruction of one warp
// to the counts that L1's tag stage and L2 see. Pure arithmetic on 32 addresses, exact where the
// hardware is deterministic; counts that are not known are a Doubt, never a number.
//
// Source of every rule here: single-warp launches on an NVIDIA H200 (cc 9.0, driver 580.159, CUDA
// 13.0, Nsight Compute 2025.3.1, 2026-11-20); docs/how-it-works.md has each rule's evidence.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"

namespace coalprof {

// Reasons why some count of a warp (or of a sum over warps) is not known. A set, one bit each.
enum class Doubt : std::uint8_t {
    tag_hash_unknown = 1,   // the machine's hash of tag banks is not known
    wide_window = 2,        // lines in different 16 GiB windows: hash bits above are not known
    store_data_stage = 4,   // a store with so many tag wavefronts that the data stage merges some
    atomic_data_stage = 8,  // no exact rule for the data stage of atomics and reductions
    atomic_tag_stage = 32,  // nor for their tag stage
    atomic_order = 16,      // atomics whose packets depend on an unknown hash
    hash_not_summed = 64,   // a launch in which the hash makes too many warps differ
};
using Doubts = std::uint8_t;
constexpr Doubts operator|(Doubt a, Doubt b) {
    return static_cast<Doubts>(static_cast<Doubts>(a) | static_cast<Doubts>(b));
}
constexpr bool has(Doubts doubts, Doubt doubt) {
    return (doubts & static_cast<Doubts>(doubt)) != 0;
}
// The sentence shown to users, for the first doubt of the set; empty for none.
std::string_view reason_of(Doubts doubts);

// Counts of one instruction of one warp, or sums of them. L2 counts hold for a cold L1.
struct GlobalCounts {
    std::uint64_t requests = 0;
    std::uint64_t sectors = 0;
    std::uint64_t lines = 0;
    std::uint64_t unique_bytes = 0;
    std::uint64_t ideal_sectors = 0;
    std::uint64_t tag_wavefronts = 0;   // see tag_doubts
    std::uint64_t data_wavefronts = 0;  // see data_doubts; of a cold load or a store
    std::uint64_t l2_requests = 0;      // see traffic_doubts
    std::uint64_t l2_sectors = 0;
    std::uint64_t active_bytes = 0;  // active lanes x width, duplicates included
    Doubts tag_doubts = 0;
    Doubts data_doubts = 0;
    Doubts traffic_doubts = 0;  // sectors and L2 counts of atomics and reductions

    void add(const GlobalCounts& other, std::uint64_t times = 1);
};

class WarpLines;

class Coalescer {
 public:
    explicit Coalescer(const Rules& rules);
    // `access` is global, its addresses multiples of its width (hardware refuses others).
    GlobalCounts count(const WarpAccess& access) const;
    // The same for launches whose warps differ in too many ways to try all: counts that depend on
    // the hash are in doubt.
    Coalescer without_hash() const;
    // True if counts depend on address bits above the line (through the hash of the tag banks).
    bool hashes_lines() const { return hash_.is_known; }

 private:
    // The hash of the tag banks on line numbers; no mask reaches bit 32.
    struct TagHash {
        bool is_known = false;
        Doubt why_not_known = Doubt::tag_hash_unknown;
        Doubt why_no_order = Doubt::atomic_order;
        std::uint32_t high_mask = 0;
        std::uint32_t low_mask = 0;
        std::uint32_t window_shift = 0;  // the hash is known for this line >> window_shift
        std::uint32_t bank_of(std::uint64_t line) const;
    };
    void count_wavefronts(const WarpAccess& access, const WarpLines& lines,
                          GlobalCounts& counts) const;
    void count_packets(const WarpAccess& access, const WarpLines& lines,
                       GlobalCounts& counts) const;

    TagHash hash_;
};

}  // namespace coalprof
