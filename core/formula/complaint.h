// Errors of a formula: a sentence, the place in the text, a hint.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

// `at` is a position in `formula`; its size means "at the end".
inline UsageError formula_error(std::string_view formula, std::size_t at,
                                const std::string& sentence, const std::string& hint) {
    return UsageError("formula: " + sentence, std::string(formula), std::min(at, formula.size()),
                      hint);
}

}  // namespace coalprof
