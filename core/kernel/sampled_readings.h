// From a sample of blocks to all of them.
#pragma once

#include <vector>

#include "core/result/result.h"

namespace coalprof {

// Makes the totals of a point those of `scale` times as many blocks. `groups`: its readings in each
// part of the sample, all of one size; how they differ gives the intervals.
void extrapolate(Point& point, const std::vector<Readings>& groups, double scale);

}  // namespace coalprof
