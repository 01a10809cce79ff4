// The warp that `explain` draws of a point, made anew from the point's parameters.
#pragma once

#include "core/write/point_warp.h"

namespace coalprof {

// The commonest warp. None where the point is of no pattern of the catalog and of no formula, where
// the result lacks something for it, and where nothing goes to global memory.
std::optional<PointWarp> find_point_warp(const ResultHead& head, const NamedValues& parameters);

}  // namespace coalprof
