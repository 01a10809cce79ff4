// The lines of a program's source that `coalprof run --lines` counted, with the lines around them,
// as data of a page; its style and its script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/write/columns.h"
#include "core/write/table_style.h"

namespace coalprof {

// Lines that follow each other, numbered from `first`.
struct SourceBlock {
    std::uint64_t first = 1;
    std::vector<std::string> lines;
};

// The lines of these numbers and the few around each, as far as the text has them. Ready to be
// shown: tabs are spaces, control characters are escaped, long lines are cut.
std::vector<SourceBlock> source_blocks(std::string_view text,
                                       const std::set<std::uint64_t>& numbers);

// A list with an object for each source file, the first named first: `name`, `file`, `points`
// ([line, point] by line), `blocks` ([first, [line, ...]]) or `why_not`. Empty: the result has no
// lines of a program.
std::string source_lines_json(const ResultColumns& result, const FindSource& find);

// The files of core/write/page.
std::string_view page_style();
std::string_view page_script();

}  // namespace coalprof
