// The instructions of a launch one by one, below a table whose rows are their sums.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/write/table_style.h"

namespace coalprof {

// The instructions of points whose instructions differ, as far as there is room for them.
struct InstructionRows {
    using Row = std::array<std::string, 5>;  // point, instruction, cost, its unit, efficiency
    std::vector<Row> rows;
    std::vector<std::string> notes;  // of the points that have no row
};
InstructionRows instruction_rows(const std::vector<Point>& points, const TableStyle& style);

// The same as lines; empty: there is nothing to tell apart.
std::string instructions_text(const std::vector<Point>& points, const TableStyle& style);

}  // namespace coalprof
