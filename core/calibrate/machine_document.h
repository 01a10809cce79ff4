// A calibration as a machine file: a list that every format of lists can hold; as JSON it is read
// back (core/machine/machine_file.h).
#pragma once

#include "core/calibrate/calibration.h"
#include "core/result/list.h"

namespace coalprof {

// Rows of two kinds: rates, and the launches that were timed.
ListDocument machine_document(const Calibration& calibration);

}  // namespace coalprof
