// The map of a drawing: a row for each 128-byte line that a warp touches, a character for every 4
// bytes of it, eight to a sector, and the lanes that fall into each sector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/explain/explanation.h"
#include "core/explain/near_memory.h"
#include "core/explain/styled_text.h"

namespace coalprof {

struct MapStyle {
    std::size_t width = 80;
    bool ascii = false;
    bool all_lines = false;
    bool says_cache = false;  // where lines of a source are named beside those of the cache
};

class LineMap {
 public:
    // `access` must outlive the map and touch at least one line.
    LineMap(const ExplainedAccess& access, const MapStyle& style);

    // A heading and the rows; many lines are folded: equal ones, then those in the middle.
    std::vector<StyledLine> rows() const;
    // The meaning of the characters that occur: at most two lines.
    std::vector<StyledLine> legend() const;

 private:
    struct Cell;
    struct Layout {
        std::size_t line_columns = 0;  // 0: the lines are not numbered
        std::size_t byte_columns = 0;
        std::size_t lane_columns = 0;  // columns for one sector's lanes; 0: one list for the line
        std::size_t map_begin = 0;
        std::size_t lanes_begin = 0;
        std::size_t lanes_width = 0;  // columns right of the map
    };
    Layout layout() const;
    StyledLine heading() const;
    StyledLine row_of(const TouchedLine& line) const;
    StyledLine fold_of(std::size_t begin, std::size_t end, bool alike) const;
    std::size_t alike_until(std::size_t begin) const;
    Cell cell_of(const TouchedSector& sector, std::uint32_t word) const;
    std::string lanes_text(std::uint32_t lanes, std::size_t columns) const;

    const ExplainedAccess& access_;
    MapStyle style_;
    Purpose purpose_;
    Layout layout_;
};

// "0-4,9": the lanes of a mask in ranges.
std::string lane_ranges(std::uint32_t lanes);

// The map of an access to shared or constant memory: a row for each pass with the lanes that it
// serves; for shared memory also a character for each of the 32 banks.
// A heading and the rows; where they are many, those in the middle are folded.
std::vector<StyledLine> bank_rows(std::span<const NearPass> passes, const MapStyle& style);
std::vector<StyledLine> constant_rows(std::span<const NearPass> passes, const MapStyle& style);
// The meaning of the characters of bank_rows().
StyledLine bank_legend(std::span<const NearPass> passes, bool ascii);

}  // namespace coalprof
