// Rows of a table; neighbouring values with equal numbers share one: "1..7", and "9..15 as 1".
#pragma once

#include <vector>

#include "core/result/result.h"
#include "core/write/table_layout.h"

namespace coalprof {

// A row for each point, or, if `folds`, for each run of points with equal numbers. A run is of one
// whole-numbered parameter with equal steps, so that its label says which values it has.
std::vector<TableRow> rows_of(const std::vector<LaidColumn>& columns,
                              const std::vector<Point>& points, bool folds);

}  // namespace coalprof
