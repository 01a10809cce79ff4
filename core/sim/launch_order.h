// The logical indices that each block of a kernel takes, and their order: the motion of a launch in
// time, where the program only gives the accesses.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"

namespace coalprof {

struct LaunchOrder {
    std::uint64_t threads = 0;         // logical indices
    std::uint64_t blocks = 0;          // of the grid
    std::uint32_t block = 0;           // threads of a block
    std::uint32_t per_thread = 1;      // elements of a thread
    std::uint32_t blocks_in_turn = 1;  // neighbouring blocks whose elements interleave

    std::uint32_t block_warps() const { return (block + warp_lanes - 1) / warp_lanes; }
    // The index of thread 0 of block `which` for its element number `element`.
    std::uint64_t first_index(std::uint64_t which, std::uint32_t element) const;
    // The number of indices of warp `which_warp` in a block's element; its lanes take them in
    // order.
    std::uint32_t lanes_of(std::uint64_t which, std::uint32_t element,
                           std::uint32_t which_warp) const {
        const std::uint64_t first = first_index(which, element);
        const std::uint64_t end = std::min(threads, first + block);
        const std::uint64_t at = first + std::uint64_t{which_warp} * warp_lanes;
        return at < end ? static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, end - at))
                        : 0;
    }
};

LaunchOrder order_of(const Plan& plan);

// One multiprocessor as configured for a launch.
struct Multiprocessor {
    std::uint64_t l1_bytes = 0;
    std::uint32_t count = 1;            // of them on the GPU
    std::uint32_t resident_blocks = 1;  // at a time on one of them
    bool keeps_loads = true;            // loads allocate in L1
};
Multiprocessor multiprocessor_of(const Machine& machine, const Plan& plan);

}  // namespace coalprof
