// The range of addresses of a warp's lanes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/access/warp_access.h"

namespace coalprof {

// Lowest and highest byte address of the active lanes (the latter inclusive); without any, 0.
struct Extent {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

inline Extent extent_of(const WarpAccess& access) {
    if (access.active_lanes == 0) return {};
    Extent extent{~0ull, 0};
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t address =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))];
        extent.low = std::min(extent.low, address);
        extent.high = std::max(extent.high, address + access.width_bytes - 1);
    }
    return extent;
}

}  // namespace coalprof
