#include "core/formula/facts.h"

#include <array>

#include "core/formula/ranges.h"
#include "core/formula/sequences.h"

namespace coalprof {
namespace {

NodeFacts facts_of_leaf(const Node& node, const Scope& scope) {
    NodeFacts facts;
    facts.sequence = Sequence{};
    if (node.kind == NodeKind::variable) {
        const auto variable = static_cast<Variable>(node.value);
        facts.range = range_of(variable, scope);
        if (!facts.range.is_single()) facts.sequence = sequence_of(variable, scope);
    } else {
        const std::int64_t value = node.kind == NodeKind::parameter
                                       ? scope.values[static_cast<std::size_t>(node.value)]
                                       : node.value;
        facts.range = {value, value};
    }
    if (facts.sequence) facts.common_period = facts.sequence->threads;
    return facts;
}

RangeOfResult range_of_table(const LookupTable& table, const ValueRange& index) {
    return {{table.lowest, table.highest}, !table.holds(index.low) || !table.holds(index.high)};
}

NodeFacts facts_of_operator(const Node& node, const std::vector<NodeFacts>& known,
                            const Scope& scope) {
    const std::uint64_t threads = scope.threads;
    NodeFacts zero;  // in place of missing operands
    zero.sequence = Sequence{};
    std::array<const NodeFacts*, 3> operands{&zero, &zero, &zero};
    const std::size_t count = child_count(node.kind);
    for (std::size_t k = 0; k < count; ++k) operands[k] = &known[node.children[k]];

    const RangeOfResult result =
        node.kind == NodeKind::lookup
            ? range_of_table(scope.tables[static_cast<std::size_t>(node.value)], operands[0]->range)
            : range_of_result(node.kind, operands[0]->range, operands[1]->range,
                              operands[2]->range);
    NodeFacts facts;
    facts.range = result.range;
    facts.can_fail = result.can_fail;
    facts.subtree_can_fail = result.can_fail;
    facts.common_period = 1;
    for (std::size_t k = 0; k < count; ++k) {
        if (!is_evaluated(node.kind, k, operands[0]->range)) continue;
        facts.subtree_can_fail = facts.subtree_can_fail || operands[k]->subtree_can_fail;
        if (!facts.common_period || !operands[k]->common_period) {
            facts.common_period.reset();
        } else {
            facts.common_period =
                common_multiple(*facts.common_period, *operands[k]->common_period, threads);
        }
    }
    facts.same_as = same_as_operand(node.kind, operands[0]->range, operands[1]->range);
    const auto moving = sequence_of_result(node.kind, operands, threads);
    facts.sequence = facts.range.is_single() ? Sequence{} : moving;
    // 0/(i-1) has one value and yet fails in thread 1 alone: where an operator can fail, or decides
    // what is evaluated, its operands must be sequences, too.
    const bool can_fail_within = facts.can_fail || (is_lazy(node.kind) && facts.subtree_can_fail);
    const auto& even = can_fail_within ? moving : facts.sequence;
    if (!even) {
        facts.common_period.reset();
    } else if (facts.common_period) {
        facts.common_period = common_multiple(*facts.common_period, even->threads, threads);
    }
    return facts;
}

}  // namespace

std::vector<NodeFacts> prove_facts(const std::vector<Node>& nodes, const Scope& scope) {
    std::vector<NodeFacts> facts;
    facts.reserve(nodes.size());
    for (const Node& node : nodes)
        facts.push_back(child_count(node.kind) == 0 ? facts_of_leaf(node, scope)
                                                    : facts_of_operator(node, facts, scope));
    return facts;
}

}  // namespace coalprof
