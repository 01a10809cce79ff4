#include "core/formula/value.h"

#include <algorithm>

namespace coalprof {
namespace {

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
