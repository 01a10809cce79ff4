// One thread's value of an expression, exactly as the language defines it: only needed operands are
// evaluated, and failures are named. Slow; it locates failures that the vectorised evaluator has
// noticed, and it is the reference in that evaluator's tests.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formula/operators.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof {

struct ThreadValue {
    std::int64_t value = 0;
    Fault fault = Fault::none;
    NodeId where = 0;  // the node that failed
};

ThreadValue evaluate_thread(const std::vector<Node>& nodes, NodeId root, const Scope& scope,
                            std::uint64_t thread);

}  // namespace coalprof
