// The distinct numbers of a warp's lanes, kept in the order of first sight. A few nanoseconds a
// lane, whatever the numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/access/warp_access.h"

namespace coalprof {

class LaneSet {
 public:
    LaneSet() { index_of_slot_.fill(empty); }
    // The index of `key`; a new key gets the next one. At most 32 keys.
    std::uint32_t insert(std::uint64_t key) {
        // Fibonacci hashing: the top bits of the product are well mixed for strides of all kinds.
        auto slot = static_cast<std::uint32_t>((key * 0x9E37'79B9'7F4A'7C15ull) >> 56);
        for (; index_of_slot_[slot] != empty; slot = (slot + 1) % slots)
            if (keys_[index_of_slot_[slot]] == key) return index_of_slot_[slot];
        index_of_slot_[slot] = static_cast<std::uint8_t>(size_);
        keys_[size_] = key;
        return size_++;
    }
    std::uint32_t size() const { return size_; }

 private:
    static constexpr std::uint32_t slots = 256;  // eight times the lanes: probes rarely collide
    static constexpr std::uint8_t empty = 0xFF;

    std::uint32_t size_ = 0;
    std::array<std::uint8_t, slots> index_of_slot_;
    std::array<std::uint64_t, warp_lanes> keys_;  // the first size_
};

// The n of 2^n, to shift instead of dividing.
constexpr std::uint32_t shift_of(std::uint32_t power_of_two) {
    return static_cast<std::uint32_t>(std::countr_zero(power_of_two));
}

// Calls visit(lane) for every lane of the set, lowest first.
template <typename Visit>
void each_lane(std::uint32_t lanes, Visit visit) {
    const auto end = static_cast<std::uint32_t>(std::bit_width(lanes));
    for (auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes)); lane < end; ++lane)
        if ((lanes >> lane & 1) != 0) visit(lane);
}

// Calls visit(lanes) for each group of `size` neighbouring lanes that has an active one.
template <typename Visit>
void each_group(std::uint32_t active_lanes, std::uint32_t size, Visit visit) {
    const std::uint32_t low = size == warp_lanes ? all_lanes : (1u << size) - 1;
    for (std::uint32_t first = 0; first < warp_lanes; first += size) {
        const std::uint32_t group = active_lanes & (low << first);
        if (group != 0) visit(group);
    }
}

// The number of different blocks of 2^shift bytes in which the addresses of `lanes` start.
inline std::uint32_t distinct_blocks(const WarpAccess& access, std::uint32_t lanes,
                                     std::uint32_t shift) {
    LaneSet blocks;
    each_lane(lanes, [&](std::uint32_t lane) { blocks.insert(access.addresses[lane] >> shift); });
    return blocks.size();
}

}  // namespace coalprof
