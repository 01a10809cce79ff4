// Reads JSON into a FileValue, strictly: no name twice, bounded depth and size, integers that fit.
// Comments, // to the end of the line and /* */, are left out, as most readers of settings do.
#pragma once

#include <string_view>

#include "core/json/file_value.h"

namespace coalprof {

// `file` names the text in messages. Throws UsageError with the place for what is not JSON, deeper
// than max_config_depth, longer than max_config_bytes or not UTF-8.
FileValue parse_json(std::string_view text, std::string_view file);

}  // namespace coalprof
