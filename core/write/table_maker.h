// Tables from points: of a page of them, of a single one as a list, of the instructions of a
// formula.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/write/table_layout.h"

namespace coalprof {

// `facts_begin` opens the facts that all rows share: "In every row: ". `crosses`: two parameters
// with one number a point become a table of one by the other.
Table table_of_page(const TableLayout& layout, const std::vector<Point>& points,
                    std::string_view facts_begin, const TableStyle& style, bool crosses);

// A single point: one row a counter, prediction and measurement side by side.
Table table_of_point(const TableLayout& layout, const Point& point, const TableStyle& style);

// The instructions of points whose instructions differ, as far as they fit; none: all are the same.
std::optional<Table> table_of_instructions(const std::vector<Point>& points,
                                           const TableStyle& style);

}  // namespace coalprof
