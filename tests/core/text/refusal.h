// What a call refused to do, as users read it.
#pragma once

#include <string>

#include "core/text/describe.h"

namespace coalprof {

template <typename Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return describe(error);
    }
    return "(accepted)";
}

}  // namespace coalprof
