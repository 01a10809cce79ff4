// A lone point as a list: one line a counter, prediction and measurement side by side.
#pragma once

#include "core/write/table_layout.h"

namespace coalprof {

void put_card(TextBuffer& out, const TableLayout& layout, const Point& point,
              const TableStyle& style);

}  // namespace coalprof
