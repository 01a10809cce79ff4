// An explanation as text for a terminal: one row for each 128-byte line that the warp touches, a
// character for every 4 bytes of it, and beside it the lanes of each sector; then the counts and
// the sentences. No tabs, no blanks at line ends, no line longer than the width.
#pragma once

#include <cstddef>
#include <vector>

#include "core/explain/explanation.h"
#include "core/explain/styled_text.h"

namespace coalprof {

struct ExplainStyle {
    std::size_t width = 80;  // width of the terminal; 60 to 100 columns are used, 80 where it is 0
    bool color = false;
    bool ascii = false;      // no character above 127
    bool all_lines = false;  // every touched line, where otherwise many are folded into one
    bool is_brief = false;   // no sentences below the counts
};

std::vector<StyledLine> lines_of(const Explanation& explanation, const ExplainStyle& style);

}  // namespace coalprof
