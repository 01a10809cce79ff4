#include "core/formula/ranges.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>
#include <optional>

namespace coalprof {
namespace {

// Twice the width of a value: products and sums of two values never overflow it.
__extension__ using Wide = __int128;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

struct WideRange {
    Wide low = 0;
    Wide high = 0;
};

WideRange span_of(std::initializer_list<Wide> values) {
    return {std::min(values), std::max(values)};
}

RangeOfResult fitted(const WideRange& wide) {
    const auto clamped = [](Wide value) {
        return static_cast<std::int64_t>(std::clamp<Wide>(value, lowest, highest));
    };
    return {{clamped(wide.low), clamped(wide.high)}, wide.low < lowest || wide.high > highest};
}

Wide wide(std::int64_t value) { return value; }

RangeOfResult product(const ValueRange& a, const ValueRange& b) {
    return fitted(span_of(
        {wide(a.low) * b.low, wide(a.low) * b.high, wide(a.high) * b.low, wide(a.high) * b.high}));
}

// The part of a divisor's range that is below zero, and the part above.
std::optional<ValueRange> below_zero(const ValueRange& b) {
    if (b.low >= 0) return std::nullopt;
    return ValueRange{b.low, std::min<std::int64_t>(b.high, -1)};
}
std::optional<ValueRange> above_zero(const ValueRange& b) {
    if (b.high <= 0) return std::nullopt;
    return ValueRange{std::max<std::int64_t>(b.low, 1), b.high};
}

RangeOfResult quotient(const ValueRange& a, const ValueRange& b) {
    std::optional<WideRange> all;
    for (const auto& part : {below_zero(b), above_zero(b)}) {
        if (!part) continue;
        const WideRange here = span_of({wide(a.low) / part->low, wide(a.low) / part->high,
                                        wide(a.high) / part->low, wide(a.high) / part->high});
        all = all ? WideRange{std::min(all->low, here.low), std::max(all->high, here.high)} : here;
    }
    if (!all) return {{0, 0}, true};  // divides by zero wherever it is evaluated
    RangeOfResult result = fitted(*all);
    result.can_fail = result.can_fail || (b.low <= 0 && b.high >= 0);
    return result;
}

RangeOfResult remainder_of(const ValueRange& a, const ValueRange& b) {
    const bool can_fail =
        (b.low <= 0 && b.high >= 0) || (a.low == lowest && b.low <= -1 && b.high >= -1);
    if (a.low >= 0 && b.low > a.high) return {a, can_fail};  // it changes nothing
    const Wide largest_divisor = std::max(-wide(b.low), wide(b.high));
    const Wide reach = std::max<Wide>(largest_divisor - 1, 0);
    const Wide low = a.low >= 0 ? 0 : std::max<Wide>(a.low, -reach);
    const Wide high = a.high <= 0 ? 0 : std::min<Wide>(a.high, reach);
    return {fitted({low, high}).range, can_fail};
}

ValueRange shift_counts(const ValueRange& b) {
    return {std::clamp<std::int64_t>(b.low, 0, 63), std::clamp<std::int64_t>(b.high, 0, 63)};
}

RangeOfResult shifted_left(const ValueRange& a, const ValueRange& b) {
    const ValueRange count = shift_counts(b);
    const Wide least = Wide{1} << count.low;
    const Wide most = Wide{1} << count.high;
    RangeOfResult result =
        fitted(span_of({a.low * least, a.low * most, a.high * least, a.high * most}));
    result.can_fail = result.can_fail || b.low < 0 || b.high > 63;
    return result;
}

RangeOfResult shifted_right(const ValueRange& a, const ValueRange& b) {
    const ValueRange count = shift_counts(b);
    RangeOfResult result = fitted(span_of(
        {a.low >> count.low, a.low >> count.high, a.high >> count.low, a.high >> count.high}));
    result.can_fail = b.low < 0 || b.high > 63;
    return result;
}

// The smallest 2^k - 1 that covers the bits of every value of the range (of ~v for negative v).
std::int64_t covering_mask(const ValueRange& a) {
    const auto bits = [](std::int64_t v) { return static_cast<std::uint64_t>(v < 0 ? ~v : v); };
    const std::uint64_t widest = std::max(bits(a.low), bits(a.high));
    return static_cast<std::int64_t>((std::uint64_t{1} << std::bit_width(widest)) - 1);
}

ValueRange bitwise_and(const ValueRange& a, const ValueRange& b) {
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (a.low >= 0) return {0, a.high};
    if (b.low >= 0) return {0, b.high};
    const std::int64_t low = -std::max(covering_mask(a), covering_mask(b)) - 1;
    if (a.high < 0 && b.high < 0) return {low, std::min(a.high, b.high)};
    return {low, std::max(a.high, b.high)};
}

ValueRange bitwise_or(const ValueRange& a, const ValueRange& b) {
    const std::int64_t mask = std::max(covering_mask(a), covering_mask(b));
    if (a.low >= 0 && b.low >= 0) return {std::max(a.low, b.low), mask};
    const std::int64_t high = a.high < 0 || b.high < 0 ? -1 : mask;
    return {std::min(a.low, b.low), high};
}

ValueRange bitwise_xor(const ValueRange& a, const ValueRange& b) {
    const std::int64_t mask = std::max(covering_mask(a), covering_mask(b));
    const bool a_has_sign = a.low >= 0 || a.high < 0;
    const bool b_has_sign = b.low >= 0 || b.high < 0;
    if (!a_has_sign || !b_has_sign) return {-mask - 1, mask};
    if ((a.low >= 0) == (b.low >= 0)) return {0, mask};
    return {-mask - 1, -1};
}

ValueRange decided(bool never, bool always) { return {always ? 1 : 0, never ? 0 : 1}; }

ValueRange compared(NodeKind kind, const ValueRange& a, const ValueRange& b) {
    const bool apart = a.high < b.low || b.high < a.low;
    const bool same = a.is_single() && a == b;
    switch (kind) {
        case NodeKind::less:
            return decided(a.low >= b.high, a.high < b.low);
        case NodeKind::less_equal:
            return decided(a.low > b.high, a.high <= b.low);
        case NodeKind::greater:
            return decided(a.high <= b.low, a.low > b.high);
        case NodeKind::greater_equal:
            return decided(a.high < b.low, a.low >= b.high);
        case NodeKind::equal:
            return decided(apart, same);
        default:
            return decided(same, apart);
    }
}

RangeOfResult magnitude(const ValueRange& a) {
    if (a.low >= 0) return {a, false};
    const Wide high = std::max(-wide(a.low), wide(a.high));
    return fitted({a.high <= 0 ? -wide(a.high) : Wide{0}, high});
}

ValueRange both_or_either(NodeKind kind, const ValueRange& a, const ValueRange& b) {
    const Truth left = truth_of(a);
    const Truth right = truth_of(b);
    const auto either = [&](Truth truth) { return left == truth || right == truth; };
    const auto both = [&](Truth truth) { return left == truth && right == truth; };
    if (kind == NodeKind::logical_and) return decided(either(Truth::never), both(Truth::always));
    return decided(both(Truth::never), either(Truth::always));
}

ValueRange chosen(const ValueRange& test, const ValueRange& then, const ValueRange& otherwise) {
    if (truth_of(test) == Truth::always) return then;
    if (truth_of(test) == Truth::never) return otherwise;
    return {std::min(then.low, otherwise.low), std::max(then.high, otherwise.high)};
}

}  // namespace

Truth truth_of(const ValueRange& range) {
    if (range.low == 0 && range.high == 0) return Truth::never;
    return range.low > 0 || range.high < 0 ? Truth::always : Truth::sometimes;
}

bool is_evaluated(NodeKind kind, std::size_t which, const ValueRange& first_operand) {
    if (which == 0 || !is_lazy(kind)) return true;
    const bool when_zero = kind == NodeKind::logical_or || which == 2;
    return truth_of(first_operand) != (when_zero ? Truth::always : Truth::never);
}

RangeOfResult range_of_result(NodeKind kind, const ValueRange& a, const ValueRange& b,
                              const ValueRange& c) {
    switch (kind) {
        case NodeKind::negate:
            return fitted({-wide(a.high), -wide(a.low)});
        case NodeKind::complement:
            return {{~a.high, ~a.low}, false};
        case NodeKind::logical_not:
            return {decided(truth_of(a) == Truth::always, truth_of(a) == Truth::never), false};
        case NodeKind::absolute:
            return magnitude(a);
        case NodeKind::multiply:
            return product(a, b);
        case NodeKind::divide:
            return quotient(a, b);
        case NodeKind::remainder:
            return remainder_of(a, b);
        case NodeKind::add:
            return fitted({wide(a.low) + b.low, wide(a.high) + b.high});
        case NodeKind::subtract:
            return fitted({wide(a.low) - b.high, wide(a.high) - b.low});
        case NodeKind::shift_left:
            return shifted_left(a, b);
        case NodeKind::shift_right:
            return shifted_right(a, b);
        case NodeKind::bit_and:
            return {bitwise_and(a, b), false};
        case NodeKind::bit_xor:
            return {bitwise_xor(a, b), false};
        case NodeKind::bit_or:
            return {bitwise_or(a, b), false};
        case NodeKind::minimum:
            return {{std::min(a.low, b.low), std::min(a.high, b.high)}, false};
        case NodeKind::maximum:
            return {{std::max(a.low, b.low), std::max(a.high, b.high)}, false};
        case NodeKind::logical_and:
        case NodeKind::logical_or:
            return {both_or_either(kind, a, b), false};
        case NodeKind::conditional:
            return {chosen(a, b, c), false};
        case NodeKind::hash:
            return {{0, std::max<std::int64_t>(b.high - (b.high > lowest ? 1 : 0), 0)}, b.low < 1};
        default:
            return {compared(kind, a, b), false};
    }
}

}  // namespace coalprof
