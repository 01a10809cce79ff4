// From a sample of blocks to all of them.
#pragma once

#include <vector>

#include "core/result/result.h"

namespace coalprof {

// Scales the totals of a point by `scale`, from a sample of blocks to all. `groups`: its readings
// in each part of the sample, all of one size; their differences give the intervals.
void extrapolate(Point& point, const std::vector<Readings>& groups, double scale);

}  // namespace coalprof
