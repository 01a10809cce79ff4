// The warps of many points as JSON, each shape once: most points of a sweep repeat those of others.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/write/table_style.h"

namespace coalprof {

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
    // A page of 1,000 points must stay below 400 KB.
    static constexpr std::size_t most_bytes = 96 << 10;

    std::size_t bytes_ = 0;
    std::vector<std::string> shapes_;
    std::unordered_map<std::string, int> known_;
    std::vector<int> of_points_;
    std::vector<std::uint64_t> warps_;
};

}  // namespace coalprof
