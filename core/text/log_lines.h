// Lines as services read them that show logs: GitHub takes one that begins with "::", behind
// whatever blanks, for a command, Azure and TeamCity one that begins with "##". A name that a
// result holds may stand there, in a table's first column or where a sentence is folded.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// Whether `line` begins so.
bool begins_like_command(std::string_view line);

// `text` with a backslash in front of each such beginning.
std::string without_commands(std::string_view text);

}  // namespace coalprof
