// Every index of a launch, checked before anything is launched: no thread may fail; the number of
// active threads and the array's length are returned. Formulas whose values all repeat are checked
// by their first and last periods, so that 2^30 threads cost as much as 2^20 do; the others are
// walked.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/formula/facts.h"
#include "core/formula/operators.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"
#include "core/text/error.h"

namespace coalprof {

struct ThreadValue {
    std::int64_t value = 0;
    Fault fault = Fault::none;
    NodeId where = 0;  // the node that failed
};

ThreadValue evaluate_thread(const std::vector<Node>& nodes, NodeId root, const Scope& scope,
                            std::uint64_t thread);

struct LaunchExtent {
    std::uint64_t active_threads = 0;  // that are not switched off
    std::uint64_t elements = 0;        // the highest index + 1; 0 when no thread takes part
};

// The number of warps of an access that check_launch() evaluates, about; `facts` are those of the
// formula's nodes in `scope`.
std::uint64_t warps_to_check(const ParsedFormula& formula, const FormulaAccess& access,
                             const Scope& scope, const std::vector<NodeFacts>& facts);

// `facts` are those of formula.nodes in `scope`. Throws UsageError naming the first thread that
// fails, with a caret under the failure: an overflow, a division by zero, an index that is
// negative, beyond the declared extents of its array, or above `largest_index`.
LaunchExtent check_launch(const ParsedFormula& formula, const FormulaAccess& access,
                          const Scope& scope, const std::vector<NodeFacts>& facts,
                          std::int64_t largest_index);

// How many threads, from the first on, stay within the array's extents and compute their index.
struct ThreadsWithin {
    std::uint64_t threads = 0;
    std::shared_ptr<const UsageError> left = nullptr;  // of the next one
    bool is_end = true;  // it is not the first thread, and those after it fail, too
};
ThreadsWithin threads_within(const ParsedFormula& formula, const FormulaAccess& access,
                             const Scope& scope, const std::vector<NodeFacts>& facts,
                             std::int64_t largest_index);

// The error for a thread of a launch that cannot compute its index.
// `failed` is evaluate_thread()'s answer for `thread`, or an index out of range. `ends_here`: a
// launch of fewer threads would not fail.
UsageError launch_failure(const ParsedFormula& formula, const Scope& scope, std::uint64_t thread,
                          const ThreadValue& failed, std::int64_t largest_index,
                          bool ends_here = true);

}  // namespace coalprof
