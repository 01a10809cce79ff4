// The lines of a program's source that `coalprof run --lines` counted, with the lines around them,
// as data of a page; the warps of its points; its style and its script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/write/columns.h"
#include "core/write/table_style.h"

namespace coalprof {

// Lines that follow each other, numbered from `first`.
struct SourceBlock {
    std::uint64_t first = 1;
    std::vector<std::string> lines;
};

// The lines of these numbers and the few around each, as far as the text has them. Ready to be
// shown: tabs are spaces, control characters are escaped, long lines are cut.
std::vector<SourceBlock> source_blocks(std::string_view text,
                                       const std::set<std::uint64_t>& numbers);

// A list with an object for each source file, the first named first: `name`, `file`, `points`
// ([line, point] by line), `blocks` ([first, [line, ...]]) or `why_not`. Empty: the result has no
// lines of a program.
std::string source_lines_json(const ResultColumns& result, const FindSource& find);

// The warps of many points as JSON, each shape once: most points of a sweep repeat those of others.
class WarpShapes {
 public:
    // Adds the next point's warp; none, or no room left: it has no drawing.
    void add(const std::optional<PointWarp>& warp);
    // True when there is no room for more.
    bool is_full() const { return bytes_ >= most_bytes; }
    // A list for each shape: instructions as [label, bytes of a lane, runs], runs as four numbers
    // each: the first lane, the number of lanes, the offset of the first in bytes, and the distance
    // of the others. Offsets count from the line of the lowest address.
    const std::vector<std::string>& shapes() const { return shapes_; }
    // By point: its shape, and the warp; -1: none.
    const std::vector<int>& of_points() const { return of_points_; }
    const std::vector<std::uint64_t>& warps() const { return warps_; }

 private:
    // A page of 1,000 points must stay below 450 KB.
    static constexpr std::size_t most_bytes = 96 << 10;

    std::size_t bytes_ = 0;
    std::vector<std::string> shapes_;
    std::unordered_map<std::string, int> known_;
    std::vector<int> of_points_;
    std::vector<std::uint64_t> warps_;
};

// The files of core/write/page.
std::string_view page_style();
std::string_view page_script();

}  // namespace coalprof
