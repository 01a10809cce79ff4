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
    std::uint8_t whole = 0;       // sectors among them that are touched completely
    std::uint8_t part_bytes = 0;  // touched bytes of each other one, on average
    bool is_of_words = true;      // each lane has at least one
};

// Of the four of a line; a call of the C library counts bits where a processor is not known to.
constexpr int sector_count(int sectors) {
    return static_cast<int>(0x4332'3221'3221'2110u >> 4 * (sectors & 0xF) & 7);
}

class LinesOfWarp {
 public:
    // `by` is added to each address.
    explicit LinesOfWarp(const WarpAccess& access, std::uint64_t by = 0);
    const LineTouch* begin() const { return lines_.data(); }
    const LineTouch* end() const { return lines_.data() + count_; }
    std::uint32_t size() const { return count_; }

 private:
    void touch(std::uint64_t address, std::uint32_t bytes);
    // A lane of at most 32 bytes is on at most two lines.
    std::array<LineTouch, 2 * warp_lanes> lines_;
    std::array<std::uint8_t, 8 * warp_lanes> bytes_{};  // by line and sector; 32 and more: whole
    std::uint32_t count_ = 0;
};

// Passes through the two stages of L1, which work at the same time.
struct L1Passes {
    std::uint16_t tags = 0;  // lines of one tag bank wait for each other
    std::uint16_t data = 0;  // words of one data bank do
    // Sectors of all packets in which an atomic leaves L1: a sector comes in several where lanes
    // agree.
    std::uint16_t packets = 0;
};
L1Passes passes_of_lines(const Coalescer& coalescer, const WarpAccess& access, std::uint32_t lines);

}  // namespace coalprof
