// Reads TOML into a FileValue: the part of TOML that a file of formulas needs, so that every file
// that is accepted means the same to other readers of TOML. That is: comments, [table] and [[list]]
// headers, key = value, text in its four quotings, integers, inline tables and lists; what else
// there is (dates, fractions, true) is read to be named. Not: dotted keys, \u escapes, numbers that
// are not decimal.
//
// By hand, because toml++ 3.3 (the version of Debian 12) ends the process on malformed headers like
// "[{" and has undefined behaviour there without assertions; and its trees are as deep as a line
// has dots.
#pragma once

#include <string_view>

#include "core/text/file_value.h"

namespace coalprof {

// `file` names the text in messages. Throws UsageError (FILE:LINE:COLUMN: ...) for what is not such
// TOML, is deeper than max_config_depth, longer than max_config_bytes or not UTF-8.
FileValue parse_toml(std::string_view text, std::string_view file);

}  // namespace coalprof
