#include "core/formula/lane_program.h"

#include <algorithm>
#include <cassert>

#include "core/formula/ranges.h"
#include "core/pattern/formulas.h"

namespace coalprof {
namespace {

// A tree of depth d needs at most 4 d registers in addition to those of the variables: three
// operands and a guard at each level.
constexpr std::size_t most_registers = 4 * max_formula_depth + variable_count + 2;

}  // namespace

// Walks a tree once and writes the steps. Its recursion is bounded by the tree's depth, which the
// parser bounds.
class LaneCompiler {
 public:
    LaneCompiler(const std::vector<Node>& nodes, const std::vector<NodeFacts>& facts,
                 LaneProgram& program, Checking checking)
        : nodes_(nodes), facts_(facts), program_(program), checks_(checking == Checking::on) {
        variable_registers_.fill(none);
        taken_.fill(false);
    }

    void compile(NodeId index, std::optional<NodeId> condition, std::int64_t largest_index) {
        const Register always = emit({.kernel = constant_kernel(), .constant = -1});
        Register guard = always;
        if (condition) {
            program_.condition_ = value_of_node(*condition, always);
            if (checks_) guard = guarded(always, *program_.condition_, false);
        }
        program_.index_ = value_of_node(index, guard);
        program_.largest_index_ = largest_index;
        const ValueRange& range = facts_[index].range;
        program_.check_index_ = checks_ && (range.low < 0 || range.high > largest_index);
    }

 private:
    using Register = std::uint16_t;
    static constexpr Register none = 0xFFFF;

    Register take() {
        const auto free = std::find(taken_.begin(), taken_.end(), false);
        assert(free != taken_.end());
        *free = true;
        return static_cast<Register>(free - taken_.begin());
    }
    // Variables are filled once and used throughout.
    void release(Register which) {
        if (std::ranges::find(variable_registers_, which) == variable_registers_.end())
            taken_[which] = false;
    }

    Register emit(LaneStep step) {
        step.to = take();
        program_.steps_.push_back(step);
        return step.to;
    }
    Register guarded(Register outer, Register test, bool where_zero) {
        return emit({.kernel = guard_kernel(where_zero), .operands = {outer, test}});
    }

    Register value_of_node(NodeId id, Register guard) {
        const Node& node = nodes_[id];
        const NodeFacts& facts = facts_[id];
        if (facts.is_constant())
            return emit({.kernel = constant_kernel(), .constant = facts.range.low});
        if (node.kind == NodeKind::variable) return variable(node.value);
        if (facts.same_as && !(checks_ && fails_beside(node, *facts.same_as)))
            return value_of_node(node.children[*facts.same_as], guard);
        if (is_lazy(node.kind)) return lazy(node, guard);
        return strict(node, facts, guard);
    }

    bool fails_beside(const Node& node, std::size_t operand) const {
        return child_count(node.kind) == 2 && facts_[node.children[1 - operand]].subtree_can_fail;
    }

    Register variable(std::int64_t which) {
        Register& where = variable_registers_[static_cast<std::size_t>(which)];
        if (where == none) where = emit({.kernel = variable_kernel(), .constant = which});
        return where;
    }

    Register strict(const Node& node, const NodeFacts& facts, Register guard) {
        const bool is_table = node.kind == NodeKind::lookup;
        const std::size_t count = child_count(node.kind);
        LaneStep step{.kernel = is_table ? lookup_kernel(checks_)
                                         : strict_kernel(node.kind, checks_ && facts.can_fail),
                      .guard = guard,
                      .constant = node.value};
        for (std::size_t k = 0; k < step.operands.size(); ++k)
            step.operands[k] =
                k < count ? value_of_node(node.children[k], guard) : step.operands[0];
        const Register result = emit(step);
        for (const Register operand : step.operands) release(operand);
        return result;
    }

    Register lazy(const Node& node, Register guard) {
        const ValueRange& first = facts_[node.children[0]].range;
        const bool is_conditional = node.kind == NodeKind::conditional;
        // A first operand that is the same everywhere is still evaluated where it can fail.
        if (truth_of(first) != Truth::sometimes && !facts_[node.children[0]].subtree_can_fail) {
            if (is_conditional)
                return value_of_node(node.children[truth_of(first) == Truth::always ? 1 : 2],
                                     guard);
            const Register value = value_of_node(node.children[1], guard);  // else it were constant
            const Register result = emit({.kernel = truth_kernel(), .operands = {value}});
            release(value);
            return result;
        }
        const Register test = value_of_node(node.children[0], guard);
        LaneStep step{.kernel = is_conditional                       ? select_kernel()
                                : node.kind == NodeKind::logical_and ? and_kernel()
                                                                     : or_kernel()};
        const Register then =
            guarded_value(node.children[1], guard, test, node.kind == NodeKind::logical_or);
        step.operands = {test, then, then};
        if (is_conditional) step.operands[2] = guarded_value(node.children[2], guard, test, true);
        const Register result = emit(step);
        for (const Register operand : step.operands) release(operand);
        return result;
    }

    // A value that counts only in lanes where `test` is (not) zero.
    Register guarded_value(NodeId id, Register guard, Register test, bool where_zero) {
        if (!checks_ || !facts_[id].subtree_can_fail) return value_of_node(id, guard);
        const Register inner = guarded(guard, test, where_zero);
        const Register value = value_of_node(id, inner);
        release(inner);
        return value;
    }

    const std::vector<Node>& nodes_;
    const std::vector<NodeFacts>& facts_;
    LaneProgram& program_;
    bool checks_;
    std::array<Register, variable_count> variable_registers_;
    std::array<bool, most_registers> taken_;
};

LaneProgram::LaneProgram(const std::vector<Node>& nodes, const std::vector<NodeFacts>& facts,
                         const Scope& scope, NodeId index, std::optional<NodeId> condition,
                         Checking checking, std::int64_t largest_index)
    : scope_(scope) {
    LaneCompiler(nodes, facts, *this, checking).compile(index, condition, largest_index);
}

namespace {

// Returns true if an active lane's index is out of range.
bool hand_out(const LaneValues& index, const LaneValues* condition, std::int64_t largest_index,
              std::uint64_t* elements) {
    bool is_out = false;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const bool is_active = !condition || (*condition)[k] != 0;
        elements[k] = is_active ? static_cast<std::uint64_t>(index[k]) : idle_lane;
        is_out |= is_active && (index[k] < 0 || index[k] > largest_index);
    }
    return is_out;
}

}  // namespace

bool LaneProgram::run(std::uint64_t first, std::uint64_t* elements) const {
    std::array<LaneValues, most_registers> registers;  // written before read, so not cleared
    const LaneState state{registers.data(), first, &scope_};
    bool failed = false;
    for (const LaneStep& step : steps_) failed |= step.kernel(step, state);
    const bool is_out = hand_out(registers[index_], condition_ ? &registers[*condition_] : nullptr,
                                 largest_index_, elements);
    return failed || (check_index_ && is_out);
}

}  // namespace coalprof
