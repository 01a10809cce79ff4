// Machine files: a GPU's rates, as `coalprof calibrate` writes them
// (core/calibrate/calibration.h).
#pragma once

#include <string_view>

#include "core/machine/machine.h"

namespace coalprof {

inline constexpr std::string_view machine_file_key = "calibration";  // of its list
inline constexpr std::string_view machine_file_rate = "rate";        // the kind of a row

// The machine of --machine: a machine file, where there is a slash or an ending .json, else one
// that find_machine() knows. Throws UsageError, and Error where a file cannot be read.
Machine machine_named(std::string_view text);

}  // namespace coalprof
