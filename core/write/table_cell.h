// The text of one cell of a table.
#pragma once

#include <string>
#include <string_view>

#include "core/write/table_layout.h"

namespace coalprof {

// Widest a name or a text parameter may be; the rest is cut.
inline constexpr std::size_t text_cell_columns = 28;
inline constexpr std::size_t bar_columns = 10;
inline constexpr std::string_view column_gap = "  ";
inline constexpr char estimate_mark = '~';
// A parameter that people read with its unit: "4 MiB".
inline constexpr std::string_view size_parameter = "size_bytes";
// What a point has no value of, whether it cannot be had or does not concern the point.
inline constexpr std::string_view not_there = "n/a";

// Appends the text of the cell, without padding; answers its width in columns.
std::size_t put_cell(TextBuffer& out, const TableColumn& column, const Point& point,
                     const TableStyle& style);
// The name or the text parameter that a column shows; nullptr where it shows something else.
const std::string* text_in(const TableColumn& column, const Point& point);
// What the point's time is limited by, as a word.
std::string_view limit_of(const Point& point);
std::string value_text(const Value& value, std::size_t columns, bool ascii);
// A reading that is there: a number, with a mark if it is an estimate, or n/a.
std::string reading_text(const Reading& reading, const NumberStyle& number, bool is_estimate);
// The reading that a column of counters shows; absent where there is none.
const Reading& shown_reading(const TableColumn& column, const Point& point);

}  // namespace coalprof
