// Facts that can be proven about the nodes of a formula in a given launch without evaluating it:
// the range of each value, whether an operator can fail, and how each value repeats from thread to
// thread. They decide which checks can be left out and which formulas are summed by periods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof {

// value(thread + threads) == value(thread) + advance wherever both are in the launch and evaluated.
struct Sequence {
    std::uint64_t threads = 1;
    std::int64_t advance = 0;
    friend bool operator==(const Sequence&, const Sequence&) = default;
};

struct NodeFacts {
    ValueRange range;                    // all values wherever it is evaluated without failing
    bool can_fail = false;               // the operator itself, given its operands' ranges
    bool subtree_can_fail = false;       // it or anything below it
    std::optional<std::size_t> same_as;  // the operand whose value it always has, as in i % n
    std::optional<Sequence> sequence;    // none: not proven to repeat within the launch
    // The same within one period of `sequence`, which is a multiple of it; nothing if not proven.
    std::optional<Sequence> inner;
    // Every node of the subtree has a sequence: their common period (threads). Then an operator
    // that fails nowhere in the first and the last of these periods fails nowhere between, because
    // between them every value moves evenly.
    std::optional<std::uint64_t> common_period;

    bool is_constant() const { return range.is_single() && !subtree_can_fail; }
};

// One per node, in the order of the nodes.
std::vector<NodeFacts> prove_facts(const std::vector<Node>& nodes, const Scope& scope);

// The least common multiple; none above `most`.
inline std::optional<std::uint64_t> common_multiple(std::uint64_t a, std::uint64_t b,
                                                    std::uint64_t most) {
    std::uint64_t multiple = 0;
    if (__builtin_mul_overflow(a / std::gcd(a, b), b, &multiple) || multiple > most)
        return std::nullopt;
    return multiple;
}

}  // namespace coalprof
