// One thread's value of an expression, exactly as the language says: only what is needed is
// evaluated, and what fails is named. Slow; it locates what the vectorised evaluator has noticed,
// and it is what that evaluator is tested against.
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
