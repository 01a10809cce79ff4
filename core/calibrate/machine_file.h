// Machine files: a GPU's rates with what they were measured by, as a list that every format of
// lists can hold; as JSON they are read back.
#pragma once

#include <string>
#include <string_view>

#include "core/calibrate/calibration.h"
#include "core/machine/machine.h"
#include "core/result/list.h"

namespace coalprof {

// Rows of two kinds: rates, and the launches that were timed.
ListDocument machine_document(const Calibration& calibration);

// What --machine names: a machine file, where there is a slash or an ending .json, else what
// find_machine() knows. Throws UsageError, and Error where a file cannot be read.
Machine machine_named(std::string_view text);

}  // namespace coalprof
