// The error for a thread of a launch that cannot compute its index.
#pragma once

#include <cstdint>

#include "core/formula/scalar.h"
#include "core/formula/tree.h"
#include "core/text/error.h"

namespace coalprof {

// `failed` is evaluate_thread()'s answer for `thread`, or an index out of range.
UsageError launch_failure(const ParsedFormula& formula, const Scope& scope, std::uint64_t thread,
                          const ThreadValue& failed, std::int64_t largest_index);

}  // namespace coalprof
