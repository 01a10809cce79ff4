// The instructions of a launch one by one, below a table whose rows are their sums.
#pragma once

#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/write/table_style.h"

namespace coalprof {

// Lines for those points whose instructions differ in what a request costs; empty: there are none.
std::string instructions_text(const std::vector<Point>& points, const TableStyle& style);

}  // namespace coalprof
