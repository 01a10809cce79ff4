// A register of a warp over a box of blocks: a number for each lane in the box's first block, and
// by how much it grows from block to block along x, y and z. Sums, products with fixed numbers and
// shifts of such numbers hold for every block of the box at once; where that fails, the box must be
// split.
#pragma once

#include <array>
#include <cstdint>

#include "core/access/warp_access.h"

namespace coalprof {

// Blocks first, first + stride, ... of a grid, `count` of them along each dimension.
struct BlockBox {
    std::array<std::uint32_t, 3> first{0, 0, 0};
    std::array<std::uint32_t, 3> stride{1, 1, 1};
    std::array<std::uint32_t, 3> count{1, 1, 1};
    std::uint64_t blocks() const { return std::uint64_t{1} * count[0] * count[1] * count[2]; }
    friend bool operator==(const BlockBox&, const BlockBox&) = default;
};

// Thrown where blocks of a box diverge.
struct BoxMustSplit {
    std::uint8_t dimensions = 0;  // a bit each: along one of these
    // Not 0: blocks at this distance along the lowest of them are equal.
    std::uint32_t stride = 0;
    std::uint32_t parts = 2;
};

using Growth = std::array<std::int64_t, 3>;

struct LaneValue {
    std::array<std::uint64_t, warp_lanes> at{};  // for predicates bit n of at[0] is lane n
    Growth growth{0, 0, 0};
    std::uint32_t valid = 0;  // the lanes for which `growth` holds
    // The arrays without given contents that it depends on: see launch_memory.h.
    std::uint64_t unsaid = 0;

    bool is_fixed() const { return (growth[0] | growth[1] | growth[2]) == 0; }
};

inline std::uint8_t dimensions_of(const Growth& growth) {
    return static_cast<std::uint8_t>((growth[0] != 0 ? 1 : 0) | (growth[1] != 0 ? 2 : 0) |
                                     (growth[2] != 0 ? 4 : 0));
}

__extension__ using Wide = __int128;

// The least and the most growth in a box.
struct Spread {
    Wide least = 0;
    Wide most = 0;
};
inline Spread spread_of(const Growth& growth, const BlockBox& box) {
    Spread spread;
    for (std::size_t d = 0; d < 3; ++d) {
        const Wide all = static_cast<Wide>(growth[d]) * (box.count[d] - 1);
        (all < 0 ? spread.least : spread.most) += all;
    }
    return spread;
}

}  // namespace coalprof
