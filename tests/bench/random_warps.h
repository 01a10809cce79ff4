// Warps for the benchmarks: contiguous, strided and random addresses, seeded, so that every run
// counts the same ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/access/warp_access.h"

namespace coalprof::bench {

enum class Shape { contiguous, strided, random };
inline constexpr std::size_t warps_in_set = 4096;  // more than branch predictors remember

inline std::vector<WarpAccess> make_warps(Shape shape, AccessKind kind, std::uint32_t width) {
    std::mt19937_64 random(1);
    const std::uint64_t region_elements = (1ull << 32) / width;  // 4 GiB
    std::vector<WarpAccess> warps(warps_in_set);
    for (WarpAccess& warp : warps) {
        warp.active_lanes = all_lanes;
        warp.width_bytes = width;
        warp.kind = kind;
        const std::uint64_t start = random() % region_elements;
        const std::uint64_t stride = shape == Shape::strided ? 2 + random() % 62 : 1;
        for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
            const std::uint64_t element =
                shape == Shape::random ? random() % region_elements : start + lane * stride;
            warp.addresses[lane] = element * width;
        }
    }
    return warps;
}

}  // namespace coalprof::bench
