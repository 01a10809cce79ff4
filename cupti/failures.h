// The meaning of CUPTI's result codes for a user, and what to do about each. CUPTI's texts are not
// used: cuptiGetErrorMessage has one for five codes only, cuptiGetResultString none for 36 and 37
// (CUPTI 13.0).
#pragma once

#include <string>
#include <string_view>

#include "core/device/device.h"

namespace coalprof {

// "cannot <doing>: <reason> (<name>). <remedy>". `doing` completes "cannot ". The code is a plain
// int, so that one from a newer library than our headers is a value like any other.
std::string describe_cupti_failure(int code, std::string_view doing);

// Throws CountersError with that sentence unless `code` is 0.
void check_cupti(int code, std::string_view doing);

}  // namespace coalprof
