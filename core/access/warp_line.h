// The parser of one line of a warps file, for WarpsReader (see warps_file.h for the format).
#pragma once

#include <string_view>

#include "core/access/warps_file.h"

namespace coalprof {

// Parses `text`, a line without its end, of `file_name`; line.number is the caller's. The byte
// behind it must be a newline, CR or 0. False: a blank or comment line. Throws UsageError naming
// file, line and column.
bool parse_warp_line(std::string_view text, std::string_view file_name, WarpLine& line);
// The same up to the end of the op; sets line.access, kind and space.
bool parse_warp_op(std::string_view text, std::string_view file_name, WarpLine& line);

}  // namespace coalprof
