// One warp of a user's formula explained as explanation.h does for every pattern, under the name
// and with the text that the user gave it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/explain/explanation.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {

// `sweep` has one value for each of its parameters. Throws UsageError where the formula fails in
// some thread, as a sweep does, and for a warp that is not there.
Explanation explanation_of(const FormulaSweep& sweep, const Machine& machine,
                           std::optional<std::uint64_t> warp = {});

}  // namespace coalprof
