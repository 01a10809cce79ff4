// Growth of numbers from block to block of a box through sums, products, quotients and comparisons.
// Numbers that do not grow evenly in all blocks throw BoxMustSplit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/access/warp_access.h"

namespace coalprof {

// A register of a warp over a box of blocks: a number for each lane in the box's first block, and
// by how much it grows from block to block along x, y and z. Sums, products with fixed numbers and
// shifts of such numbers hold for every block of the box at once; where that fails, the box must be
// split.
//
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
    std::array<std::uint64_t, warp_lanes> at{};  // a predicate keeps lane n in bit n of at[0]
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

constexpr std::uint64_t mask_of(std::uint8_t bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}
constexpr std::int64_t extended(std::uint64_t value, std::uint8_t bits) {
    return bits >= 64 ? static_cast<std::int64_t>(value)
                      : static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

// `parts`: the best number of parts for the box.
[[noreturn]] inline void split_box(const Growth& growth, std::uint32_t parts = 64) {
    throw BoxMustSplit{.dimensions = dimensions_of(growth), .parts = parts};
}
// Throws where the register grows from block to block.
inline void need_fixed(const LaneValue& value) {
    if (!value.is_fixed()) split_box(value.growth);
}
// Throws where `bits` wide numbers of active lanes, signed or not, wrap somewhere in the box.
void need_no_wrap(const LaneValue& value, std::uint32_t active, const BlockBox& box,
                  std::uint8_t bits, bool is_signed);

Growth wrapped(const Growth& growth, std::uint8_t bits);
Growth sum_of(const Growth& a, const Growth& b);
Growth scaled(const Growth& a, std::uint64_t by);
inline Growth negated(const Growth& a) { return scaled(a, ~std::uint64_t{0}); }
// Growth of the product of a growing number with a fixed one.
Growth growth_of_product(const LaneValue& a, const LaneValue& b, std::uint32_t active,
                         bool is_signed_64 = false, std::uint8_t bits = 64);

// The common number of all active lanes.
std::optional<std::uint64_t> number_of_all(const LaneValue& value, std::uint32_t active);

// The quotients and remainders of a growing number by a fixed one, from block to block.
enum class Quotients : std::uint8_t {
    grow,  // the number grows by multiples of the divisor: remainders are constant
    stay,  // no lane reaches the next multiple: remainders grow as the number does
};
Quotients quotients_of(const LaneValue& value, std::uint32_t active, const BlockBox& box,
                       Wide divisor, std::uint8_t bits, bool is_signed);
// Throws unless a growing number's bits from `shift` on include all growth.
void need_multiples(const LaneValue& value, std::uint32_t active, std::uint32_t shift,
                    const BlockBox& box, std::uint8_t bits);

// -1, 0, 1: the result of comparing a to b in all blocks of the box.
struct LaneOrder {
    std::array<std::int8_t, warp_lanes> of{};
};
LaneOrder order_of(const LaneValue& a, const LaneValue& b, std::uint32_t active,
                   const BlockBox& box, std::uint8_t bits, bool is_signed);

}  // namespace coalprof
