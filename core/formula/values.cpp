// Numbers of a formula as trees, and C's arithmetic with them.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/formula/facts.h"
#include "core/formula/launch_check.h"
#include "core/formula/reader.h"

namespace coalprof {
namespace {

constexpr std::int64_t word_mask = 0xFFFF'FFFF;

void renumber(Node& node, std::size_t shift) {
    node.first = static_cast<NodeId>(node.first + shift);
    for (std::size_t k = 0; k < child_count(node.kind); ++k)
        node.children[k] = static_cast<NodeId>(node.children[k] + shift);
}

bool is_literal(const NodeTree& tree) {
    return tree.size() == 1 && tree.front().kind == NodeKind::literal;
}

// True if no part of it can make it negative, as far as the text shows.
bool is_plainly_positive(const NodeTree& tree) {
    return std::ranges::all_of(tree, [](const Node& node) {
        switch (node.kind) {
            case NodeKind::literal: return node.value >= 0;
            case NodeKind::parameter:
            case NodeKind::lookup:
            case NodeKind::negate:
            case NodeKind::complement:
            case NodeKind::subtract: return false;
            default: return true;
        }
    });
}

bool is_of_bits(NodeKind kind) {
    return kind == NodeKind::bit_and || kind == NodeKind::bit_or || kind == NodeKind::bit_xor;
}
// True if the result's low 32 bits follow from those of the operands.
bool keeps_low_bits(NodeKind kind) {
    return kind == NodeKind::add || kind == NodeKind::subtract || kind == NodeKind::multiply ||
           kind == NodeKind::shift_left || kind == NodeKind::negate ||
           kind == NodeKind::complement || is_of_bits(kind);
}

// The subtree of a root's operand, numbered from 0.
NodeTree operand_of(const NodeTree& tree, std::size_t which) {
    const NodeId root = tree.back().children[which];
    const NodeId first = tree[root].first;
    NodeTree part(tree.begin() + first, tree.begin() + root + 1);
    for (Node& node : part) renumber(node, std::size_t{0} - first);
    return part;
}

}  // namespace

bool is_same_subtree(const std::vector<Node>& a, NodeId root_of_a, const std::vector<Node>& b,
                     NodeId root_of_b) {
    const NodeId first_of_a = a[root_of_a].first;
    const NodeId first_of_b = b[root_of_b].first;
    if (root_of_a - first_of_a != root_of_b - first_of_b) return false;
    // From the root on: the parts that differ between the rounds of a loop come last.
    for (NodeId k = root_of_a - first_of_a + 1; k-- > 0;) {
        const Node& one = a[first_of_a + k];
        const Node& other = b[first_of_b + k];
        if (one.kind != other.kind || one.value != other.value) return false;
        for (std::size_t child = 0; child < child_count(one.kind); ++child)
            if (one.children[child] - first_of_a != other.children[child] - first_of_b)
                return false;
    }
    return true;
}

NodeTree FormulaReader::leaf(NodeKind kind, std::int64_t value, std::size_t begin,
                             std::size_t end) const {
    Node node;
    node.kind = kind;
    node.value = value;
    node.begin = static_cast<std::uint16_t>(begin);
    node.end = static_cast<std::uint16_t>(end);
    node.at = node.begin;
    return {node};
}

NodeTree FormulaReader::combined(NodeKind kind, std::size_t at, std::size_t begin, std::size_t end,
                                 std::initializer_list<const NodeTree*> children,
                                 std::int64_t value) const {
    NodeTree tree;
    Node root = leaf(kind, value, begin, end).front();
    root.at = static_cast<std::uint16_t>(at);
    std::size_t which = 0;
    bool is_constant = launch_.scope != nullptr && kind != NodeKind::lookup;
    for (const NodeTree* child : children) {
        is_constant = is_constant && is_literal(*child);
        const std::size_t shift = tree.size();
        for (Node node : *child) {
            renumber(node, shift);
            tree.push_back(node);
        }
        root.children[which++] = static_cast<NodeId>(tree.size() - 1);
        const std::size_t depth = child->back().depth + std::size_t{1};
        if (depth > max_formula_depth)
            throw error(at, fmt::format("nested deeper than {} levels", max_formula_depth),
                        "a chain of operators counts too: a + b + c has 3 levels");
        root.depth = std::max(root.depth, static_cast<std::uint8_t>(depth));
    }
    tree.push_back(root);
    if (tree.size() > max_formula_nodes)
        throw error(at,
                    fmt::format("more than {} numbers, names and operators, counting what a name "
                                "stands for wherever it stands",
                                max_formula_nodes),
                    "measure its parts in several formulas");
    if (is_constant) {
        const auto root_id = static_cast<NodeId>(tree.size() - 1);
        const ThreadValue folded = evaluate_thread(tree, root_id, *launch_.scope, 0);
        if (folded.fault == Fault::none) return leaf(NodeKind::literal, folded.value, begin, end);
    }
    return tree;
}

// tree op number; x + 3 + 4 is x + 7, so that the sums of a loop stay small.
NodeTree FormulaReader::with_number(NodeKind kind, NodeTree tree, std::int64_t number) const {
    const std::size_t begin = tree.back().begin;
    const std::size_t end = tree.back().end;
    if (kind == NodeKind::add && number == 0) return tree;
    if (kind == NodeKind::multiply && number == 1) return tree;
    if (kind == NodeKind::add && tree.back().kind == NodeKind::add) {
        const NodeTree right = operand_of(tree, 1);
        std::int64_t sum = 0;
        if (is_literal(right) && !__builtin_add_overflow(right.back().value, number, &sum))
            return with_number(kind, operand_of(tree, 0), sum);
    }
    const NodeTree literal = leaf(NodeKind::literal, number, begin, end);
    return combined(kind, begin, begin, end, {&tree, &literal});
}

NodeTree FormulaReader::negated(const NodeTree& tree) const {
    const Node& root = tree.back();
    return combined(NodeKind::logical_not, root.at, root.begin, root.end, {&tree});
}

// The text of both is that of the second, which is closer to the guarded access.
NodeTree FormulaReader::both(const NodeTree& a, const NodeTree& b) const {
    if (a.empty()) return b;
    if (b.empty()) return a;
    const Node& root = b.back();
    return combined(NodeKind::logical_and, root.at, root.begin, root.end, {&a, &b});
}

NodeTree FormulaReader::masked(const NodeTree& tree, std::uint32_t bits) const {
    // A sum over the rounds of a loop must not grow by a mask a round.
    if (launch_.scope) {
        const NodeFacts facts = prove_facts(tree, *launch_.scope).back();
        if (!facts.subtree_can_fail && facts.range.low >= 0 && facts.range.high >> bits == 0)
            return tree;
    }
    return with_number(NodeKind::bit_and, tree, (std::int64_t{1} << bits) - 1);
}

// tree / divisor where the text shows that the remainder is 0.
std::optional<NodeTree> FormulaReader::exact_quotient(const NodeTree& tree,
                                                      std::int64_t divisor) const {
    const Node& root = tree.back();
    if (root.kind == NodeKind::literal && root.value % divisor == 0)
        return leaf(NodeKind::literal, root.value / divisor, root.begin, root.end);
    if (root.kind == NodeKind::multiply)
        for (const std::size_t side : {1u, 0u})
            if (const NodeTree factor = operand_of(tree, side);
                is_literal(factor) && factor.back().value % divisor == 0)
                return with_number(NodeKind::multiply, operand_of(tree, 1 - side),
                                   factor.back().value / divisor);
    if (root.kind != NodeKind::add && root.kind != NodeKind::subtract) return std::nullopt;
    const auto left = exact_quotient(operand_of(tree, 0), divisor);
    const auto right = exact_quotient(operand_of(tree, 1), divisor);
    if (!left || !right) return std::nullopt;
    return combined(root.kind, root.at, root.begin, root.end, {&*left, &*right});
}

// Converts units of `from_bytes` to units of `to_bytes`.
NodeTree FormulaReader::scaled(NodeTree tree, std::uint64_t from_bytes,
                               std::uint64_t to_bytes) const {
    if (tree.empty() || from_bytes == to_bytes) return tree;
    const std::uint64_t common = std::gcd(from_bytes, to_bytes);
    const auto times = static_cast<std::int64_t>(from_bytes / common);
    const auto divisor = static_cast<std::int64_t>(to_bytes / common);
    tree = with_number(NodeKind::multiply, std::move(tree), times);
    if (divisor == 1) return tree;
    if (auto exact = exact_quotient(tree, divisor)) return std::move(*exact);
    return with_number(NodeKind::divide_exactly, std::move(tree), divisor);
}

ReadValue FormulaReader::number(NodeTree tree, std::size_t begin, std::size_t end) const {
    ReadValue value;
    value.kind = Kind::number;
    value.tree = std::move(tree);
    value.begin = begin;
    value.end = end;
    return value;
}

NodeTree FormulaReader::whole(const ReadValue& value) const {
    if (!value.is(Kind::number)) {
        if (value.why) throw *value.why;
        throw error(value.begin, "a pointer is no index", "write the access: a[i*2]");
    }
    if (value.arithmetic != Arithmetic::word || !value.wraps) return value.tree;
    return masked(value.tree, 32);
}

ReadValue FormulaReader::binary(const OperatorInfo& info, std::size_t at, ReadValue left,
                                ReadValue right) {
    const bool moves = info.kind == NodeKind::add || info.kind == NodeKind::subtract;
    if (moves && left.is(Kind::pointer) && right.is(Kind::number))
        return moved(std::move(left), right, info.kind, at);
    if (info.kind == NodeKind::add && right.is(Kind::pointer) && left.is(Kind::number))
        return moved(std::move(right), left, info.kind, at);
    if (auto result = compared(info, at, left, right)) return std::move(*result);
    if (!left.is(Kind::number) || !right.is(Kind::number)) {
        ReadValue unknown = left.is(Kind::number) ? right : left;
        if (!unknown.why)
            unknown.why = std::make_shared<const UsageError>(
                error(unknown.begin, "a pointer is no index", "write the access: a[i*2]"));
        ReadValue result = data(left.begin, right.end, *unknown.why);
        return result;
    }
    return arithmetic(info, at, left, right);
}

// p < q and p - q within an array, and p != NULL, which is assumed to be true.
std::optional<ReadValue> FormulaReader::compared(const OperatorInfo& info, std::size_t at,
                                                 const ReadValue& left,
                                                 const ReadValue& right) const {
    const auto is_pointer = [](const ReadValue& value) {
        return value.is(Kind::pointer) && !value.may_be_array;
    };
    if (!is_pointer(left) && !is_pointer(right)) return std::nullopt;
    const bool is_test = info.kind >= NodeKind::less && info.kind <= NodeKind::not_equal;
    const auto is_null = [](const ReadValue& value) {
        return value.is(Kind::number) && is_literal(value.tree) && value.tree.back().value == 0;
    };
    if (is_test && (is_null(left) || is_null(right)))
        return number(
            leaf(NodeKind::literal, info.kind == NodeKind::not_equal, left.begin, right.end),
            left.begin, right.end);
    if (!is_pointer(left) || !is_pointer(right) || left.array != right.array ||
        left.type != right.type || (!is_test && info.kind != NodeKind::subtract))
        return std::nullopt;
    const auto place = [&](const ReadValue& pointer) {
        NodeTree tree = pointer.tree;
        if (tree.empty()) tree = leaf(NodeKind::literal, 0, pointer.begin, pointer.end);
        return number(scaled(std::move(tree), unit_of(pointer), types_.at(pointer.type).size_bytes),
                      pointer.begin, pointer.end);
    };
    return arithmetic(info, at, place(left), place(right));
}

ReadValue FormulaReader::arithmetic(const OperatorInfo& info, std::size_t at, const ReadValue& left,
                                    const ReadValue& right) const {
    const bool is_shift = info.kind == NodeKind::shift_left || info.kind == NodeKind::shift_right;
    Arithmetic kind = is_shift ? left.arithmetic : std::max(left.arithmetic, right.arithmetic);
    const bool is_word = kind == Arithmetic::word;
    const bool keeps = is_word && keeps_low_bits(info.kind);
    const auto operand = [&](const ReadValue& value) {
        // A factor of 32 bits is taken from -2^31 on: products of two fit 64 bits.
        if (info.kind == NodeKind::multiply && is_word && is_literal(value.tree) &&
            value.tree.back().value > word_mask / 2 && value.tree.back().value <= word_mask)
            return leaf(NodeKind::literal, value.tree.back().value - word_mask - 1, value.begin,
                        value.end);
        if (keeps && info.kind != NodeKind::multiply) return value.tree;
        if (is_word && !value.wraps && !is_plainly_positive(value.tree))
            return masked(value.tree, 32);
        return whole(value);
    };
    const NodeTree a = operand(left);
    const NodeTree b = is_shift ? whole(right) : operand(right);
    // A sum over rounds stays small.
    const bool adds_literal = info.kind == NodeKind::add && launch_.scope && is_literal(b) &&
                              a.back().kind == NodeKind::add;
    ReadValue result =
        number(adds_literal ? with_number(NodeKind::add, a, b.back().value)
                            : combined(info.kind, at, left.begin, right.end, {&a, &b}),
               left.begin, right.end);
    result.sign_at = at;
    result.is_comparison = info.kind >= NodeKind::less && info.kind <= NodeKind::not_equal;
    const bool is_truth = result.is_comparison || is_lazy(info.kind);
    result.arithmetic = is_truth ? Arithmetic::plain : kind;
    result.wraps = keeps && (!is_of_bits(info.kind) || left.wraps || right.wraps);
    return result;
}

// Accesses under one `if` share its node.
NodeId FormulaReader::condition_node(const NodeTree& condition) {
    const auto root = static_cast<NodeId>(condition.size() - 1);
    for (auto other = formula_.accesses.rbegin(); other != formula_.accesses.rend(); ++other)
        if (other->condition && is_same_subtree(condition, root, formula_.nodes, *other->condition))
            return *other->condition;
    return append(condition);
}

NodeId FormulaReader::append(const NodeTree& tree) {
    const std::size_t start = formula_.nodes.size();
    const std::size_t most = has_loops_ ? max_unrolled_nodes : max_formula_nodes;
    if (start + tree.size() > most)
        throw error(tree.back().at, fmt::format("more than {} numbers, names and operators", most),
                    has_loops_ ? "fewer rounds show the same; `coalprof kernel` takes whole kernels"
                               : "measure its parts in several formulas");
    for (Node node : tree) {
        renumber(node, start);
        formula_.nodes.push_back(node);
    }
    return static_cast<NodeId>(formula_.nodes.size() - 1);
}

}  // namespace coalprof
