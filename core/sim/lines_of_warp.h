// The lines that an access of a warp touches, sector by sector: the input of cache replays.
#pragma once

#include <array>
#include <cstdint>

#include "core/access/warp_access.h"
#include "core/count/coalescer.h"

namespace coalprof {

struct LineTouch {
    std::uint64_t line = 0;  // address / 128
    std::uint8_t sectors = 0;
    std::uint8_t whole = 0;       // of them those that are touched byte for byte
    std::uint8_t part_bytes = 0;  // touched of each other one, on average
};

class LinesOfWarp {
 public:
    // `by` is added to each address.
    explicit LinesOfWarp(const WarpAccess& access, std::uint64_t by = 0);
    const LineTouch* begin() const { return lines_.data(); }
    const LineTouch* end() const { return lines_.data() + count_; }
    std::uint32_t size() const { return count_; }

 private:
    void touch(std::uint64_t address, std::uint32_t bytes);
    // An access of 32 bytes a lane at most, so that no lane is on more than two lines.
    std::array<LineTouch, 2 * warp_lanes> lines_;
    std::array<std::uint8_t, 8 * warp_lanes> bytes_{};  // by line and sector; 32 and more: whole
    std::uint32_t count_ = 0;
};

// Through L1: lines of a bank of tags wait for each other, and words of a bank of data.
std::uint64_t passes_of_lines(const Coalescer& coalescer, const WarpAccess& access,
                              std::uint32_t lines);

}  // namespace coalprof
