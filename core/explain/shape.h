// The shape of one warp's access: the basis of a drawing and of the sentences about it. Facts of
// the 32 addresses alone; no machine and no rule of any hardware enters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/access/warp_access.h"

namespace coalprof {

inline constexpr std::uint32_t sectors_per_line = line_bytes / sector_bytes;
inline constexpr std::uint32_t words_per_sector = sector_bytes / 4;

struct TouchedSector {
    std::uint32_t lanes = 0;                                     // lanes in it; 0: not touched
    std::uint32_t used_bytes = 0;                                // one bit per byte of the sector
    std::array<std::uint8_t, words_per_sector> lanes_of_word{};  // number of lanes, per 4 bytes
};

struct TouchedLine {
    std::uint64_t address = 0;  // address of its first byte, as the access has them
    std::array<TouchedSector, sectors_per_line> sectors;
};

// The lines of an access by rising address. Its addresses are multiples of its width, as those of
// every access that a GPU executes; otherwise its bytes end with its sector.
std::vector<TouchedLine> touched_lines(const WarpAccess& access);

// Lanes as threads of a block that is narrower than a warp: rows of neighbours.
struct LaneRows {
    std::uint32_t lanes = 0;       // lanes in a row: 2, 4, 8 or 16
    std::uint64_t lane_bytes = 0;  // distance of two lanes in a row, up or down
    std::uint64_t row_bytes = 0;   // distance of two rows
};

// All counts are 0 where no lane is active.
struct WarpShape {
    std::uint32_t width_bytes = 0;
    std::uint32_t active_lanes = 0;
    std::uint32_t places = 0;              // distinct addresses
    std::uint32_t most_lanes_a_place = 0;  // most lanes that share one address
    std::uint32_t runs = 0;                // stretches of bytes without a gap
    std::uint64_t first_byte = 0;          // the lowest touched
    std::uint32_t sectors = 0;             // distinct
    std::uint32_t lines = 0;               // distinct
    std::uint32_t least_used_bytes = 0;    // fewest bytes that are used in a touched sector
    std::uint32_t most_used_bytes = 0;
    bool lanes_rise = true;  // no active lane lies below an active lane before it
    // From each place to the next by address, if all are the same; none for one place.
    std::optional<std::uint64_t> distance_bytes;
    // True if the active lanes are neighbours and each is that distance from the next (all up or
    // all down).
    bool lanes_keep_distance = false;
    // Rows of lanes at one distance, where the lanes as a whole have none.
    std::optional<LaneRows> rows;

    std::uint32_t unique_bytes() const { return places * width_bytes; }
    // The fewest sectors, and lines, that could hold the distinct bytes.
    std::uint32_t sectors_needed() const {
        return static_cast<std::uint32_t>((unique_bytes() + sector_bytes - 1) / sector_bytes);
    }
    std::uint32_t lines_needed() const {
        return static_cast<std::uint32_t>((unique_bytes() + line_bytes - 1) / line_bytes);
    }
    // The offset of the first byte in its sector.
    std::uint32_t misaligned_bytes() const {
        return static_cast<std::uint32_t>(first_byte % sector_bytes);
    }
};

WarpShape shape_of(const WarpAccess& access);

}  // namespace coalprof
