#include "core/formula/value.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/formula/lexer.h"
#include "core/pattern/plan.h"

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

// Sizes on the GPU, where long has 64 bits. Names are separated by commas.
struct NamedType {
    std::string_view names;
    ValueType type;
};
constexpr std::array<NamedType, 13> named_types{{
    {"int,signed,signed int,int32_t", {4, true}},
    {"unsigned,unsigned int,uint,uint32_t", {4, true, false}},
    {"long,long int,long long,long long int,signed long,int64_t,ptrdiff_t,ssize_t,intptr_t",
     {8, true}},
    {"unsigned long,unsigned long int,unsigned long long,unsigned long long int,uint64_t,size_t,"
     "ulong,uintptr_t",
     {8, true, false}},
    {"short,short int,int16_t", {2, true}},
    {"unsigned short,unsigned short int,ushort,uint16_t", {2, true, false}},
    {"char,signed char,int8_t", {1, true}},
    {"unsigned char,uchar,uint8_t,bool", {1, true, false}},
    {"float", {4}},
    {"double", {8}},
    {"half,__half,_Float16,__nv_bfloat16,nv_bfloat16", {2}},
    {"half2,__half2,__nv_bfloat162,nv_bfloat162", {4}},
    {"void", {}},
}};

bool lists(std::string_view names, std::string_view name) {
    for (std::size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        const bool begins = at == 0 || names[at - 1] == ',';
        if (begins && (end == names.size() || names[end] == ',')) return true;
    }
    return false;
}

// float3, uchar4, longlong2
std::optional<ValueType> find_vector(std::string_view name) {
    constexpr std::string_view families =
        "float,double,int,uint,char,uchar,short,ushort,long,ulong,longlong,ulonglong";
    const char count = name.empty() ? '\0' : name.back();
    if (count < '1' || count > '4') return std::nullopt;
    name.remove_suffix(1);
    if (!lists(families, name)) return std::nullopt;
    const auto element = find_value_type(name == "longlong" || name == "ulonglong" ? "long" : name);
    return ValueType{element->bytes * static_cast<std::uint32_t>(count - '0'), false};
}

using Kind = ReadValue::Kind;

constexpr std::int64_t word_mask = 0xFFFF'FFFF;

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
           kind == NodeKind::shift_left || is_of_bits(kind);
}

// An operand of a word's operator `info`.
NodeTree word_operand(const OperatorInfo& info, const ReadValue& value, const TreeMaker& trees) {
    // A factor of 32 bits is taken from -2^31 on: products of two fit 64 bits.
    if (info.kind == NodeKind::multiply && value.tree.back().kind == NodeKind::literal &&
        value.tree.back().value > word_mask / 2 && value.tree.back().value <= word_mask)
        return leaf(NodeKind::literal, value.tree.back().value - word_mask - 1, value.span);
    if (keeps_low_bits(info.kind) && info.kind != NodeKind::multiply) return value.tree;
    if (!value.wraps && !is_plainly_positive(value.tree)) return trees.masked(value.tree, 32);
    return whole(value, trees);
}

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

std::optional<ValueType> find_value_type(std::string_view words) {
    for (const auto& [names, type] : named_types)
        if (lists(names, words)) return type;
    if (const auto vector = find_vector(words)) return vector;
    if (const auto element = find_element_type(words)) {
        const bool is_whole = (words[0] == 'u' || words[0] == 's') && words.find('x') == words.npos;
        return ValueType{bytes_of(*element), is_whole, words[0] != 'u'};
    }
    return std::nullopt;
}

bool begins_type(std::string_view word) {
    return word == "const" || find_value_type(word).has_value();
}

ReadValue number_value(NodeTree tree, TextSpan span) {
    ReadValue value;
    value.kind = Kind::number;
    value.tree = std::move(tree);
    value.span = span;
    return value;
}

ReadValue data_value(TextSpan span, const UsageError& why) {
    ReadValue value;
    value.span = span;
    value.why = std::make_shared<const UsageError>(why);
    return value;
}

NodeTree whole(const ReadValue& value, const TreeMaker& trees) {
    if (!value.is(Kind::number)) throw *value.why;
    if (value.arithmetic != Arithmetic::word || !value.wraps) return value.tree;
    return trees.masked(value.tree, 32);
}

ReadValue binary(const OperatorInfo& info, std::size_t at, const ReadValue& left,
                 const ReadValue& right, const TreeMaker& trees) {
    const TextSpan span{left.span.begin, right.span.end};
    for (const ReadValue* side : {&left, &right})
        if (!side->is(Kind::number)) return data_value(span, *side->why);
    const bool is_shift = info.kind == NodeKind::shift_left || info.kind == NodeKind::shift_right;
    const Arithmetic arithmetic =
        is_shift ? left.arithmetic : std::max(left.arithmetic, right.arithmetic);
    const bool is_word = arithmetic == Arithmetic::word;
    const auto operand = [&](const ReadValue& value) {
        return is_word ? word_operand(info, value, trees) : whole(value, trees);
    };
    const NodeTree a = operand(left);
    const NodeTree b = is_shift ? whole(right, trees) : operand(right);
    ReadValue result = number_value(trees.combined(info.kind, at, span, {&a, &b}), span);
    result.sign_at = at;
    result.is_comparison = info.kind >= NodeKind::less && info.kind <= NodeKind::not_equal;
    if (!result.is_comparison && !is_lazy(info.kind)) result.arithmetic = arithmetic;
    result.wraps = is_word && keeps_low_bits(info.kind) &&
                   (!is_of_bits(info.kind) || left.wraps || right.wraps);
    return result;
}

ReadValue converted(ReadValue value, const ValueType& type, const TreeMaker& trees,
                    const UsageError& no_index) {
    if (!value.is(Kind::number)) return value;
    if (!type.is_integer) return data_value(value.span, no_index);
    if (type.bytes >= 4 && !(type.bytes == 4 && type.is_signed)) {
        const bool is_word = type.bytes == 4;
        if (is_word && value.arithmetic != Arithmetic::word) {
            value.wraps = true;
            value.arithmetic = Arithmetic::word;
        }
        value.tree = whole(value, trees);
        value.arithmetic = is_word ? Arithmetic::word : Arithmetic::wide;
    } else {
        const bool may_change = type.bytes < 4 || value.wraps;
        const std::uint32_t bits = type.bytes * 8;
        const std::int64_t sign = std::int64_t{1} << (bits - 1);
        if (may_change) value.tree = trees.masked(value.tree, bits);
        if (may_change && type.is_signed)
            value.tree = trees.with_number(
                NodeKind::subtract, trees.with_number(NodeKind::bit_xor, value.tree, sign), sign);
        value.arithmetic = Arithmetic::plain;
    }
    value.wraps = false;
    return value;
}

}  // namespace coalprof
