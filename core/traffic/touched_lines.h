// The lines that one warp touches, each with its sectors: an instruction as caches see it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/access/warp_access.h"

namespace coalprof {

struct LineTouched {
    std::uint64_t line = 0;     // address / 128
    std::uint32_t sectors = 0;  // one bit each, of 4
};

class TouchedLines {
 public:
    // In the order of lanes.
    void set(const WarpAccess& access);
    std::span<const LineTouched> lines() const { return {lines_.data(), count_}; }

 private:
    std::uint32_t position_of(std::uint64_t line);

    std::array<LineTouched, warp_lanes> lines_;
    std::uint32_t count_ = 0;
    // Positions of lines in lines_, from 1, by their hash; 0: free.
    std::array<std::uint8_t, 2 * warp_lanes> slots_;
};

}  // namespace coalprof
