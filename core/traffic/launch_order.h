// Which logical indices each block of a kernel takes, and in which order: what a launch does in
// time, where the program only says what is done.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/pattern/plan.h"

namespace coalprof {

struct LaunchOrder {
    std::uint64_t threads = 0;         // logical indices
    std::uint64_t blocks = 0;          // of the grid
    std::uint32_t block = 0;           // threads of a block
    std::uint32_t per_thread = 1;      // elements of a thread
    std::uint32_t blocks_in_turn = 1;  // neighbouring blocks that take their elements in turn

    std::uint32_t block_warps() const { return (block + warp_lanes - 1) / warp_lanes; }
    // The index that thread 0 of block `which` takes as its element number `element`.
    std::uint64_t first_index(std::uint64_t which, std::uint32_t element) const;
    // Calls visit(first index, lanes) for the warps of a block's element, the last one first where
    // they go backward.
    template <typename Visit>
    void each_warp(std::uint64_t which, std::uint32_t element, bool is_backward,
                   Visit visit) const {
        const std::uint64_t first = first_index(which, element);
        const std::uint64_t end = std::min(threads, first + block);
        const std::uint64_t warps = end > first ? (end - first - 1) / warp_lanes + 1 : 0;
        for (std::uint64_t k = 0; k < warps; ++k) {
            const std::uint64_t at = first + (is_backward ? warps - 1 - k : k) * warp_lanes;
            visit(at, static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, end - at)));
        }
    }
};

LaunchOrder order_of(const Plan& plan);

}  // namespace coalprof
