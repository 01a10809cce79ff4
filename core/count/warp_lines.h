// The lines that a warp touches, in the order in which lanes come to them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/access/lane_set.h"
#include "core/access/warp_access.h"

namespace coalprof {

// The groups in which lanes pass through the data stage: all 32 up to 4 bytes each, 16 of 8 bytes.
constexpr std::uint32_t phase_count(std::uint32_t width_bytes) {
    return width_bytes <= 4 ? 1 : width_bytes / 4;
}
inline constexpr std::uint32_t most_phases = phase_count(32);

struct LineOfWarp {
    std::uint64_t number = 0;                      // address / line_bytes
    std::uint32_t lanes = 0;                       // that touch it, one bit each
    std::array<std::uint32_t, 4> starts;           // by sector: the bytes at which elements begin
    std::array<std::uint32_t, most_phases> words;  // by phase: the words that its lanes touch
};

class WarpLines {
 public:
    // The warp has an active lane, and no element crosses its sector.
    explicit WarpLines(const WarpAccess& access) {
        const std::uint32_t phases = phase_count(access.width_bytes);
        const std::uint32_t words =
            access.width_bytes <= 4 ? 1 : (1u << access.width_bytes / 4) - 1;
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            const std::uint64_t address = access.addresses[lane];
            LineOfWarp& line = line_of(address / line_bytes, phases);
            const std::uint64_t byte = address % line_bytes;
            line.lanes |= 1u << lane;
            std::uint32_t& starts = line.starts[byte / sector_bytes];
            const std::uint32_t start = 1u << byte % sector_bytes;
            sectors_ += starts == 0;
            elements_ += (starts & start) == 0;
            starts |= start;
            line.words[lane * phases / warp_lanes] |= words << byte / 4;
        });
    }

    std::span<const LineOfWarp> all() const { return {lines_.data(), count_}; }
    std::uint32_t count() const { return count_; }
    std::uint32_t sectors() const { return sectors_; }
    std::uint32_t elements() const { return elements_; }  // different ones
    // The bits in which any two numbers differ.
    std::uint64_t differing_bits() const {
        std::uint64_t bits = 0;
        for (const LineOfWarp& line : all()) bits |= line.number ^ lines_.front().number;
        return bits;
    }

 private:
    LineOfWarp& line_of(std::uint64_t number, std::uint32_t phases) {
        LineOfWarp& line = lines_[numbers_.insert(number)];
        if (numbers_.size() == count_) return line;
        count_ = numbers_.size();
        line.number = number;
        line.lanes = 0;
        line.starts = {};
        for (std::uint32_t phase = 0; phase < phases; ++phase) line.words[phase] = 0;
        return line;
    }

    LaneSet numbers_;
    std::uint32_t count_ = 0;
    std::uint32_t sectors_ = 0;
    std::uint32_t elements_ = 0;
    std::array<LineOfWarp, warp_lanes> lines_;  // the first count_
};

}  // namespace coalprof
