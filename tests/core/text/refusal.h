// What a call refused to do.
#pragma once

#include <string>

#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

// As users read it.
template <typename Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return describe(error);
    }
    return "(accepted)";
}

template <typename Call>
UsageError usage_error_of(const Call& call) {
    try {
        call();
    } catch (const UsageError& error) {
        return error;
    }
    return UsageError("(accepted)");
}

}  // namespace coalprof
