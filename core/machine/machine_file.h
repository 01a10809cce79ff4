// Machine files: a GPU's rates, as `coalprof calibrate` writes them
// (core/calibrate/calibration.h).
#pragma once

#include <string_view>

#include "core/machine/machine.h"

namespace coalprof {

inline constexpr std::string_view machine_file_key = "calibration";  // key of the file's list
inline constexpr std::string_view machine_file_rate = "rate";        // the kind of a row

// True for a path, which has a slash or ends in .json.
bool names_machine_file(std::string_view text);

// The machine of --machine: of a machine file, or one that find_machine() knows. Throws UsageError,
// and Error where a file cannot be read.
Machine machine_named(std::string_view text);

}  // namespace coalprof
