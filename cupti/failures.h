// The meaning of CUPTI's result codes for a user, and what to do about each. CUPTI's texts are not
// used: cuptiGetErrorMessage has one for five codes only, cuptiGetResultString none for 36 and 37
// (CUPTI 13.0).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/device/device.h"

namespace coalprof {

// A plain int, so that code from a newer library than our headers is a value like any other.
struct CuptiFailure {
    int code;
    std::string_view name;    // "CUPTI_ERROR_HARDWARE_BUSY"
    std::string_view reason;  // completes "cannot ...: "
    std::string_view remedy;  // a whole sentence
};

// The result codes of CUPTI 13.0 that calls of coalprof may answer, in order.
std::span<const CuptiFailure> all_cupti_failures();

// "cannot <doing>: <reason> (<name>). <remedy>". `doing` completes "cannot ".
std::string describe_cupti_failure(int code, std::string_view doing);

// Throws CountersError with that sentence unless `code` is 0.
void check_cupti(int code, std::string_view doing);

}  // namespace coalprof
