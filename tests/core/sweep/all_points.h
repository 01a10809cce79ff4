// The points of a small sweep at once.
#pragma once

#include <vector>

#include "core/sweep/swept_points.h"

namespace coalprof {

inline std::vector<PlannedPoint> all_points(const SweptPoints& points) {
    std::vector<PlannedPoint> all;
    for (std::uint64_t number = 0; number < points.count(); ++number)
        all.push_back(points.at(number));
    return all;
}

}  // namespace coalprof
