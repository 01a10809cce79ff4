// Warps that several tests are about.
#pragma once

#include "core/access/warp_access.h"

namespace coalprof {

// Lane k of a global access takes `width_bytes` at first_byte + k * step_bytes.
inline WarpAccess spaced_warp(std::uint64_t first_byte, std::uint64_t step_bytes,
                              std::uint32_t width_bytes = 4, std::uint32_t lanes = all_lanes,
                              AccessKind kind = AccessKind::load) {
    WarpAccess access;
    access.kind = kind;
    access.width_bytes = width_bytes;
    access.active_lanes = lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = first_byte + lane * step_bytes;
    return access;
}

}  // namespace coalprof
