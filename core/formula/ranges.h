// Interval arithmetic of the operators: from the ranges of the operands to the range of the result.
#pragma once

#include <cstddef>
#include <optional>

#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof {

enum class Truth : std::uint8_t { never, sometimes, always };
Truth truth_of(const ValueRange& range);

// True if operand `which` of a node is evaluated in any thread: lazy operators whose first operand
// is the same everywhere leave some out.
bool is_evaluated(NodeKind kind, std::size_t which, const ValueRange& first_operand);

struct RangeOfResult {
    ValueRange range;       // all results that do not fail
    bool can_fail = false;  // some operands in these ranges fail
};

// For a strict or lazy operator; operands that it does not have are 0.
RangeOfResult range_of_result(NodeKind kind, const ValueRange& a, const ValueRange& b,
                              const ValueRange& c);

// The operand, 0 or 1, that the result of a strict operator always equals, as in i % n.
std::optional<std::size_t> same_as_operand(NodeKind kind, const ValueRange& a, const ValueRange& b);

}  // namespace coalprof
