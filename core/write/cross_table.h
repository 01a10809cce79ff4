// A sweep of two parameters that shows one number a point, as a table of one parameter by the
// other: "stride" goes down, "machine" across.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/write/table_layout.h"

namespace coalprof {

struct CrossTable {
    std::string numbers;              // "loads: sectors/request"
    std::vector<LaidColumn> columns;  // the parameter that goes down, then the values of the other
    std::vector<Point> rows;          // the first point of each
};

// None unless exactly two parameters vary, each combination has exactly one point, there is a
// single column of numbers, and the lines fit `width` (0: no limit).
std::optional<CrossTable> cross_table_of(const TableLayout& layout,
                                         const std::vector<Point>& points, std::size_t width);

// "stride by machine", if one column of numbers would make such a table; else empty.
std::string cross_axes_of(const TableLayout& layout, const std::vector<Point>& points);

}  // namespace coalprof
