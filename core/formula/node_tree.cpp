#include "core/formula/node_tree.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/formula/lexer.h"

namespace coalprof {
namespace {

// Adds a tree behind others.
void add(const NodeTree& tree, std::vector<Node>& nodes) {
    const std::size_t shift = nodes.size();
    for (Node node : tree) {
        node.first = static_cast<NodeId>(node.first + shift);
        for (std::size_t k = 0; k < child_count(node.kind); ++k)
            node.children[k] = static_cast<NodeId>(node.children[k] + shift);
        nodes.push_back(node);
    }
}

TextSpan span_of(const Node& node) { return {node.begin, node.end}; }

}  // namespace

bool is_same_subtree(const std::vector<Node>& a, NodeId root_of_a, const std::vector<Node>& b,
                     NodeId root_of_b) {
    const NodeId first_of_a = a[root_of_a].first;
    const NodeId first_of_b = b[root_of_b].first;
    if (root_of_a - first_of_a != root_of_b - first_of_b) return false;
    for (NodeId k = 0; k <= root_of_a - first_of_a; ++k) {
        const Node& one = a[first_of_a + k];
        const Node& other = b[first_of_b + k];
        if (one.kind != other.kind || one.value != other.value) return false;
        for (std::size_t child = 0; child < child_count(one.kind); ++child)
            if (one.children[child] - first_of_a != other.children[child] - first_of_b)
                return false;
    }
    return true;
}

NodeTree leaf(NodeKind kind, std::int64_t value, TextSpan span) {
    Node node;
    node.kind = kind;
    node.value = value;
    node.begin = static_cast<std::uint16_t>(span.begin);
    node.end = static_cast<std::uint16_t>(span.end);
    node.at = node.begin;
    return {node};
}

NodeTree TreeMaker::combined(NodeKind kind, std::size_t at, TextSpan span,
                             std::initializer_list<const NodeTree*> children,
                             std::int64_t value) const {
    NodeTree tree;
    Node root = leaf(kind, value, span).front();
    root.at = static_cast<std::uint16_t>(at);
    std::size_t which = 0;
    for (const NodeTree* child : children) {
        add(*child, tree);
        root.children[which++] = static_cast<NodeId>(tree.size() - 1);
        const std::size_t depth = child->back().depth + std::size_t{1};
        if (depth > max_formula_depth)
            throw formula_error(text_, at,
                                fmt::format("nested deeper than {} levels", max_formula_depth),
                                "a chain of operators counts too: a + b + c has 3 levels");
        root.depth = std::max(root.depth, static_cast<std::uint8_t>(depth));
    }
    tree.push_back(root);
    if (tree.size() > max_formula_nodes)
        throw formula_error(
            text_, at,
            fmt::format("more than {} numbers, names and operators, counting what a name "
                        "stands for wherever it stands",
                        max_formula_nodes),
            "measure its parts in several formulas");
    return tree;
}

NodeTree TreeMaker::with_number(NodeKind kind, const NodeTree& tree, std::int64_t number) const {
    const TextSpan span = span_of(tree.back());
    const NodeTree literal = leaf(NodeKind::literal, number, span);
    return combined(kind, span.begin, span, {&tree, &literal});
}

NodeTree TreeMaker::negated(const NodeTree& tree) const {
    const Node& root = tree.back();
    return combined(NodeKind::logical_not, root.at, span_of(root), {&tree});
}

// The text of both is that of the second, which is closer to the guarded access.
NodeTree TreeMaker::both(const NodeTree& a, const NodeTree& b) const {
    if (a.empty()) return b;
    if (b.empty()) return a;
    const Node& root = b.back();
    return combined(NodeKind::logical_and, root.at, span_of(root), {&a, &b});
}

NodeTree TreeMaker::masked(const NodeTree& tree, std::uint32_t bits) const {
    return with_number(NodeKind::bit_and, tree, (std::int64_t{1} << bits) - 1);
}

NodeId TreeMaker::append(const NodeTree& tree, std::vector<Node>& nodes) const {
    if (nodes.size() + tree.size() > max_formula_nodes)
        throw formula_error(
            text_, tree.back().at,
            fmt::format("more than {} numbers, names and operators", max_formula_nodes),
            "measure its parts in several formulas");
    add(tree, nodes);
    return static_cast<NodeId>(nodes.size() - 1);
}

}  // namespace coalprof
