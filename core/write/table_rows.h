// The text of a table that is laid out: what stands above its rows, and the rows.
#pragma once

#include <string>

#include "core/write/table_layout.h"

namespace coalprof {

// Facts of every row, groups and headings; `facts_begin` opens the facts: "In every row: ".
std::string heading_text(const TableLayout& layout, std::string_view facts_begin,
                         const TableStyle& style);

// Running text above or below a table, in lines as wide as it may be.
std::string prose(std::string_view text, const TableStyle& style);

// Ends in a newline; `cell` is for its work.
void put_row(TextBuffer& out, TextBuffer& cell, const TableLayout& layout, const Point& point,
             const TableStyle& style);

}  // namespace coalprof
