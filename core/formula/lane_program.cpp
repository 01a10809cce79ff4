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
constexpr std::uint16_t always_guard = 0;  // a register of ones: every lane counts

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
        taken_[always_guard] = true;
        program_.registers_ = 1;
    }

    void compile(NodeId index, std::optional<NodeId> condition, std::int64_t largest_index) {
        std::uint16_t guard = always_guard;
        if (condition) {
            program_.condition_ = in_register(value_of_node(*condition, always_guard));
            guard = checks_ ? guarded(always_guard, *program_.condition_, false) : always_guard;
        }
        program_.index_ = in_register(value_of_node(index, guard));
        program_.largest_index_ = largest_index;
        const ValueRange& range = facts_[index].range;
        program_.check_index_ = checks_ && (range.low < 0 || range.high > largest_index);
        if (reads_always_guard_) fill_always_guard();
    }

 private:
    void fill_always_guard() {
        LaneStep ones;
        ones.kernel = scalar_kernel();
        ones.to = always_guard;
        ones.scalar = -1;
        program_.steps_.insert(program_.steps_.begin(), ones);
    }

    static constexpr std::uint16_t none = 0xFFFF;

    // A value while steps are written: one number, or a register that holds one per lane.
    struct Value {
        bool is_scalar = false;
        std::int64_t scalar = 0;
        std::uint16_t where = 0;
    };

    std::uint16_t take() {
        const auto free = std::find(taken_.begin(), taken_.end(), false);
        assert(free != taken_.end());
        *free = true;
        const auto which = static_cast<std::uint16_t>(free - taken_.begin());
        program_.registers_ = std::max(program_.registers_, static_cast<std::uint16_t>(which + 1));
        return which;
    }
    void release(const Value& value) {
        if (!value.is_scalar && !is_kept(value.where)) taken_[value.where] = false;
    }
    bool is_kept(std::uint16_t which) const {  // variables are filled once and used throughout
        return std::find(variable_registers_.begin(), variable_registers_.end(), which) !=
               variable_registers_.end();
    }

    Value emit(LaneStep step) {
        step.to = take();
        program_.steps_.push_back(step);
        return {false, 0, step.to};
    }
    std::uint16_t in_register(const Value& value) {
        if (!value.is_scalar) return value.where;
        LaneStep step;
        step.kernel = scalar_kernel();
        step.scalar = value.scalar;
        return emit(step).where;
    }
    std::uint16_t guarded(std::uint16_t outer, std::uint16_t test, bool where_zero) {
        reads_always_guard_ |= outer == always_guard;
        LaneStep step;
        step.kernel = guard_kernel(where_zero);
        step.a = outer;
        step.b = test;
        return emit(step).where;
    }

    Value value_of_node(NodeId id, std::uint16_t guard) {
        const Node& node = nodes_[id];
        const NodeFacts& facts = facts_[id];
        if (facts.is_constant()) return {true, facts.range.low, 0};
        if (node.kind == NodeKind::variable) return variable(static_cast<Variable>(node.value));
        if (facts.same_as && !(checks_ && fails_beside(node, *facts.same_as)))
            return value_of_node(node.children[*facts.same_as], guard);
        if (is_lazy(node.kind)) return lazy(node, guard);
        if (node.kind == NodeKind::hash) return hash(node, facts, guard);
        if (node.kind == NodeKind::lookup) return lookup(node, guard);
        return strict(node, facts, guard);
    }

    bool fails_beside(const Node& node, std::size_t operand) const {
        return child_count(node.kind) == 2 && facts_[node.children[1 - operand]].subtree_can_fail;
    }

    Value variable(Variable which) {
        std::uint16_t& where = variable_registers_[static_cast<std::size_t>(which)];
        if (where == none) {
            LaneStep step;
            choose_variable(step, which, program_.scope_);
            where = emit(step).where;
        }
        return {false, 0, where};
    }

    Value strict(const Node& node, const NodeFacts& facts, std::uint16_t guard) {
        const bool has_two = child_count(node.kind) == 2;
        Value a = value_of_node(node.children[0], guard);
        Value b = has_two ? value_of_node(node.children[1], guard) : Value{true, 0, 0};
        if (a.is_scalar && b.is_scalar) a = {false, 0, in_register(a)};  // it fails in every lane
        KernelWanted wanted;
        wanted.kind = node.kind;
        wanted.a = facts_[node.children[0]].range;
        if (has_two) wanted.b = facts_[node.children[1]].range;
        wanted.checked = checks_ && facts.can_fail;
        reads_always_guard_ |= wanted.checked && guard == always_guard;
        LaneStep step;
        step.a = a.where;
        step.b = b.where;
        step.guard = guard;
        if (a.is_scalar) {
            wanted.form = OperandForm::scalar_left;
            step.scalar = a.scalar;
        } else if (b.is_scalar) {
            wanted.form = OperandForm::scalar_right;
            step.scalar = b.scalar;
        }
        choose_kernel(step, wanted);
        const Value result = emit(step);
        release(a);
        release(b);
        return result;
    }

    Value lookup(const Node& node, std::uint16_t guard) {
        const Value index = value_of_node(node.children[0], guard);
        LaneStep step;
        step.kernel = lookup_kernel(checks_);
        reads_always_guard_ |= checks_ && guard == always_guard;
        step.a = in_register(index);
        step.scalar = node.value;
        step.guard = guard;
        const Value result = emit(step);
        release({false, 0, step.a});
        return result;
    }

    Value hash(const Node& node, const NodeFacts& facts, std::uint16_t guard) {
        const NodeFacts& buckets = facts_[node.children[1]];
        const NodeFacts& seed = facts_[node.children[2]];
        if (buckets.is_constant() && buckets.range.low >= 1 && seed.is_constant())
            return hash_by_constants(node, guard);
        std::array<Value, 3> operands;
        for (std::size_t k = 0; k < operands.size(); ++k) {
            const Value operand = value_of_node(node.children[k], guard);
            operands[k] = {false, 0, in_register(operand)};
        }
        LaneStep step;
        step.kernel = hash_kernel(checks_ && facts.can_fail);
        reads_always_guard_ |= checks_ && facts.can_fail && guard == always_guard;
        step.a = operands[0].where;
        step.b = operands[1].where;
        step.c = operands[2].where;
        step.guard = guard;
        const Value result = emit(step);
        for (const Value& operand : operands) release(operand);
        return result;
    }
    Value hash_by_constants(const Node& node, std::uint16_t guard) {
        const Value operand = value_of_node(node.children[0], guard);
        LaneStep step;
        step.a = in_register(operand);
        step.scalar = facts_[node.children[1]].range.low;
        step.scalar2 = facts_[node.children[2]].range.low;
        choose_hash(step);
        const Value result = emit(step);
        release({false, 0, step.a});
        return result;
    }

    Value lazy(const Node& node, std::uint16_t guard) {
        const ValueRange& first = facts_[node.children[0]].range;
        const bool is_conditional = node.kind == NodeKind::conditional;
        // A first operand that is the same everywhere is still evaluated where it can fail.
        if (truth_of(first) != Truth::sometimes && !facts_[node.children[0]].subtree_can_fail) {
            if (is_conditional)
                return value_of_node(node.children[truth_of(first) == Truth::always ? 1 : 2],
                                     guard);
            return truth(value_of_node(node.children[1], guard));  // else it were constant
        }
        const Value test = {false, 0, in_register(value_of_node(node.children[0], guard))};
        LaneStep step;
        step.a = test.where;
        const bool first_where_zero = node.kind == NodeKind::logical_or;
        const Value then = guarded_value(node.children[1], guard, test, first_where_zero);
        step.b = then.where;
        Value otherwise{true, 0, 0};
        if (is_conditional) {
            otherwise = guarded_value(node.children[2], guard, test, true);
            step.c = otherwise.where;
            step.kernel = select_kernel();
        } else {
            step.kernel = node.kind == NodeKind::logical_and ? and_kernel() : or_kernel();
        }
        const Value result = emit(step);
        release(test);
        release(then);
        release(otherwise);
        return result;
    }

    // A value that counts only in lanes where `test` is (not) zero.
    Value guarded_value(NodeId id, std::uint16_t guard, const Value& test, bool where_zero) {
        std::uint16_t inner = guard;
        const bool needs_guard = checks_ && facts_[id].subtree_can_fail;
        if (needs_guard) inner = guarded(guard, test.where, where_zero);
        const Value value = {false, 0, in_register(value_of_node(id, inner))};
        if (needs_guard) release({false, 0, inner});
        return value;
    }

    Value truth(const Value& value) {
        if (value.is_scalar) return {true, value.scalar != 0, 0};
        LaneStep step;
        step.kernel = truth_kernel();
        step.a = value.where;
        const Value result = emit(step);
        release(value);
        return result;
    }

    const std::vector<Node>& nodes_;
    const std::vector<NodeFacts>& facts_;
    LaneProgram& program_;
    bool checks_;
    bool reads_always_guard_ = false;
    std::array<std::uint16_t, variable_count> variable_registers_;
    std::array<bool, most_registers> taken_;
};

LaneProgram::LaneProgram(const std::vector<Node>& nodes, const std::vector<NodeFacts>& facts,
                         const Scope& scope, NodeId index, std::optional<NodeId> condition,
                         Checking checking, std::int64_t largest_index)
    : scope_(scope) {
    LaneCompiler(nodes, facts, *this, checking).compile(index, condition, largest_index);
}

namespace {

struct Wanted {
    const LaneValues& index;
    const LaneValues* condition;  // null: every lane takes part
    std::int64_t largest_index;   // negative: the index is not checked
};

// Returns true if an active lane's index is out of range.
[[gnu::always_inline]] inline bool hand_out(const Wanted& wanted, std::uint64_t* elements) {
    static_assert(idle_lane == ~Index{0}, "an idle lane is all ones, as index | ~active is");
    const bool checks = wanted.largest_index >= 0;
    const std::int64_t* index = wanted.index.lane.data();
    std::int64_t out_of_range = 0;  // negative where some active lane is
    if (wanted.condition == nullptr) {
        for (std::size_t k = 0; k < warp_lanes; ++k)
            elements[k] = static_cast<std::uint64_t>(index[k]);
        if (!checks) return false;
        for (std::size_t k = 0; k < warp_lanes; ++k)
            out_of_range |= index[k] | -std::int64_t{index[k] > wanted.largest_index};
        return out_of_range < 0;
    }
    const std::int64_t* condition = wanted.condition->lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const std::int64_t active = -std::int64_t{condition[k] != 0};
        elements[k] = static_cast<std::uint64_t>(index[k] | ~active);
        out_of_range |= active & (index[k] | -std::int64_t{index[k] > wanted.largest_index});
    }
    return checks && out_of_range < 0;
}

}  // namespace

bool LaneProgram::run(std::uint64_t first, std::uint64_t* elements) const {
    std::array<LaneValues, most_registers> registers;  // written before read, so not cleared
    const LaneState state{registers.data(), first, &scope_};
    bool failed = false;
    for (const LaneStep& step : steps_) failed |= step.kernel(step, state);
    const Wanted wanted{registers[index_], condition_ ? &registers[*condition_] : nullptr,
                        check_index_ ? largest_index_ : -1};
    const bool is_out = hand_out(wanted, elements);
    return failed || is_out;
}

}  // namespace coalprof
