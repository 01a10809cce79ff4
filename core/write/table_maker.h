// Tables from points: of a page of them, of a single one as a list, of the instructions of a
// formula.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/write/byte_sink.h"
#include "core/write/table.h"
#include "core/write/table_layout.h"

namespace coalprof {

// `rows`: whose facts those above are, "all rows"; empty: they are not said. `crosses`: two
// parameters with one number a point become a table of one by the other.
Table table_of_page(const TableLayout& layout, const std::vector<Point>& points,
                    std::string_view rows, const TableStyle& style, bool crosses);

// A single point: one row a counter, prediction and measurement side by side.
Table table_of_point(const TableLayout& layout, const Point& point, const TableStyle& style);

// The instructions of points whose instructions differ, as far as they fit; nothing if all are the
// same.
std::optional<Table> table_of_instructions(const std::vector<Point>& points,
                                           const TableStyle& style);

// A sweep of two parameters that shows one number a point, as a table of one parameter by the
// other: "stride" goes down, "machine" across.
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

// The table of a program that ran: its kernels by the cost of their waste, those of one name
// folded, then fixes for the worst. It fits a screen; `-v` shows the rest. Every other result, and
// a run that has no waste measured, goes to `general`.
std::unique_ptr<ResultSink> with_run_table(ByteSink& out, const TableStyle& style,
                                           std::unique_ptr<TableRenderer> renderer,
                                           std::unique_ptr<ResultSink> general);

}  // namespace coalprof
