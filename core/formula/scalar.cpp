#include "core/formula/scalar.h"

namespace coalprof {
namespace {

// Twice the width of a value: no operator overflows it.
__extension__ using Wide = __int128;

// Where it fails, `result` means nothing.
template <typename Operator>
Fault apply(const std::int64_t* operands, std::int64_t& result) {
    if constexpr (requires { Operator::fault(0, 0); })
        if (const Fault fault = Operator::fault(operands[0], operands[1]); fault != Fault::none)
            return fault;
    if constexpr (Operator::info.kind == NodeKind::hash) {
        result = Operator::of(operands[0], operands[1], operands[2]);
    } else if constexpr (can_overflow<Operator>) {
        const Wide exact = Operator::of(Wide{operands[0]}, Wide{operands[1]});
        result = static_cast<std::int64_t>(exact);
        if (result != exact) return Fault::overflow;
    } else {
        result = Operator::of(operands[0], operands[1]);
    }
    return Fault::none;
}

class ThreadEvaluator {
 public:
    ThreadEvaluator(const std::vector<Node>& nodes, const Scope& scope, std::uint64_t thread)
        : nodes_(nodes), scope_(scope), thread_(thread) {}

    // Recursion is bounded: the parser lets no tree be deeper than max_formula_depth.
    ThreadValue evaluate(NodeId id) const {
        const Node& node = nodes_[id];
        switch (node.kind) {
            case NodeKind::literal:
                return {node.value};
            case NodeKind::parameter:
                return {scope_.values[static_cast<std::size_t>(node.value)]};
            case NodeKind::variable:
                return {value_of(static_cast<Variable>(node.value), scope_, thread_)};
            case NodeKind::lookup:
                return looked_up(id);
            case NodeKind::logical_and:
            case NodeKind::logical_or:
                return either(node);
            case NodeKind::conditional: {
                const ThreadValue test = evaluate(node.children[0]);
                if (test.fault != Fault::none) return test;
                return evaluate(node.children[test.value != 0 ? 1 : 2]);
            }
            default:
                return strict(id);
        }
    }

 private:
    ThreadValue either(const Node& node) const {
        ThreadValue left = evaluate(node.children[0]);
        if (left.fault != Fault::none) return left;
        const bool decided = (left.value != 0) == (node.kind == NodeKind::logical_or);
        if (decided) return {left.value != 0};
        ThreadValue right = evaluate(node.children[1]);
        right.value = right.value != 0;
        return right;
    }

    ThreadValue looked_up(NodeId id) const {
        const Node& node = nodes_[id];
        const ThreadValue index = evaluate(node.children[0]);
        if (index.fault != Fault::none) return index;
        const LookupTable& table = scope_.tables[static_cast<std::size_t>(node.value)];
        if (!table.holds(index.value)) return {index.value, Fault::outside_table, id};
        return {(*table.values)[static_cast<std::size_t>(index.value)]};
    }

    ThreadValue strict(NodeId id) const {
        const Node& node = nodes_[id];
        std::int64_t operands[3] = {};
        for (std::size_t k = 0; k < child_count(node.kind); ++k) {
            const ThreadValue operand = evaluate(node.children[k]);
            if (operand.fault != Fault::none) return operand;
            operands[k] = operand.value;
        }
        std::int64_t value = 0;
        const Fault fault = visit_operator(node.kind, [&]<typename Operator>(Operator) {
            return apply<Operator>(operands, value);
        });
        return {value, fault, id};
    }

    const std::vector<Node>& nodes_;
    const Scope& scope_;
    std::uint64_t thread_;
};

}  // namespace

ThreadValue evaluate_thread(const std::vector<Node>& nodes, NodeId root, const Scope& scope,
                            std::uint64_t thread) {
    return ThreadEvaluator(nodes, scope, thread).evaluate(root);
}

}  // namespace coalprof
