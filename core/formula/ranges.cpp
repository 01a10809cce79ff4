#include "core/formula/ranges.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>

#include "core/formula/operators.h"

namespace coalprof {
namespace {

// Twice the width of a value: products and sums of two values never overflow it.
__extension__ using Wide = __int128;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

RangeOfResult fitted(Wide low, Wide high) {
    const auto clamped = [](Wide value) {
        return static_cast<std::int64_t>(std::clamp<Wide>(value, lowest, highest));
    };
    return {{clamped(low), clamped(high)}, low < lowest || high > highest};
}

// For an operator that only rises, or only falls, where one operand does and the other stays: its
// extremes are at the corners of the ranges.
template <typename Operator>
RangeOfResult at_corners(const ValueRange& a, const ValueRange& b) {
    const auto at = [](std::int64_t x, std::int64_t y) {
        return Wide{Operator::of(Wide{x}, Wide{y})};
    };
    const std::initializer_list<Wide> corners{at(a.low, b.low), at(a.low, b.high),
                                              at(a.high, b.low), at(a.high, b.high)};
    return fitted(std::min(corners), std::max(corners));
}

ValueRange decided(bool never, bool always) { return {always ? 1 : 0, never ? 0 : 1}; }

bool holds_zero(const ValueRange& range) { return range.low <= 0 && range.high >= 0; }

template <typename Operator>
RangeOfResult shifted(const ValueRange& a, const ValueRange& b) {
    const auto count = [](std::int64_t value) { return std::clamp<std::int64_t>(value, 0, 63); };
    RangeOfResult result = at_corners<Operator>(a, {count(b.low), count(b.high)});
    result.can_fail = result.can_fail || b.low < 0 || b.high > 63;
    return result;
}

// The smallest 2^k - 1 that covers the bits of every value of the range (of ~v for negative v).
std::int64_t covering_mask(const ValueRange& a) {
    const auto bits = [](std::int64_t v) { return static_cast<std::uint64_t>(v < 0 ? ~v : v); };
    const std::uint64_t widest = std::max(bits(a.low), bits(a.high));
    return static_cast<std::int64_t>((std::uint64_t{1} << std::bit_width(widest)) - 1);
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

namespace operators {

RangeOfResult LogicalNot::range(const ValueRange& a, const ValueRange&) {
    return {decided(truth_of(a) == Truth::always, truth_of(a) == Truth::never), false};
}

RangeOfResult Absolute::range(const ValueRange& a, const ValueRange& b) {
    RangeOfResult result = at_corners<Absolute>(a, b);
    if (holds_zero(a)) result.range.low = 0;
    return result;
}

RangeOfResult Divide::range(const ValueRange& a, const ValueRange& b) {
    std::optional<RangeOfResult> all;
    const auto add = [&](const ValueRange& divisors) {
        const RangeOfResult here = at_corners<Divide>(a, divisors);
        if (!all) {
            all = here;
            return;
        }
        all->range = {std::min(all->range.low, here.range.low),
                      std::max(all->range.high, here.range.high)};
        all->can_fail = all->can_fail || here.can_fail;
    };
    if (b.low < 0) add({b.low, std::min<I64>(b.high, -1)});
    if (b.high > 0) add({std::max<I64>(b.low, 1), b.high});
    if (!all) return {{0, 0}, true};  // divides by zero wherever it is evaluated
    all->can_fail = all->can_fail || holds_zero(b);
    return *all;
}

RangeOfResult Population::range(const ValueRange&, const ValueRange&) { return {{0, 32}, false}; }
RangeOfResult LeadingZeros::range(const ValueRange&, const ValueRange&) { return {{0, 32}, false}; }
RangeOfResult Reversed::range(const ValueRange&, const ValueRange&) {
    return {{0, 0xFFFF'FFFF}, false};
}

RangeOfResult Remainder::range(const ValueRange& a, const ValueRange& b) {
    const bool can_fail = holds_zero(b) || (a.low == lowest && b.low <= -1 && b.high >= -1);
    if (same_as(a, b)) return {a, can_fail};
    const Wide largest_divisor = std::max(-Wide{b.low}, Wide{b.high});
    const Wide reach = std::max<Wide>(largest_divisor - 1, 0);
    const Wide low = a.low >= 0 ? 0 : std::max<Wide>(a.low, -reach);
    const Wide high = a.high <= 0 ? 0 : std::min<Wide>(a.high, reach);
    return {fitted(low, high).range, can_fail};
}

RangeOfResult ShiftLeft::range(const ValueRange& a, const ValueRange& b) {
    return shifted<ShiftLeft>(a, b);
}
RangeOfResult ShiftRight::range(const ValueRange& a, const ValueRange& b) {
    return shifted<ShiftRight>(a, b);
}

RangeOfResult Equal::range(const ValueRange& a, const ValueRange& b) {
    const bool are_apart = a.high < b.low || b.high < a.low;
    return {decided(are_apart, a.is_single() && a == b), false};
}
RangeOfResult NotEqual::range(const ValueRange& a, const ValueRange& b) {
    const ValueRange equal = Equal::range(a, b).range;
    return {{1 - equal.high, 1 - equal.low}, false};
}

RangeOfResult BitAnd::range(const ValueRange& a, const ValueRange& b) {
    if (a.low >= 0 && b.low >= 0) return {{0, std::min(a.high, b.high)}};
    if (a.low >= 0) return {{0, a.high}};
    if (b.low >= 0) return {{0, b.high}};
    const I64 low = -std::max(covering_mask(a), covering_mask(b)) - 1;
    if (a.high < 0 && b.high < 0) return {{low, std::min(a.high, b.high)}};
    return {{low, std::max(a.high, b.high)}};
}

RangeOfResult BitOr::range(const ValueRange& a, const ValueRange& b) {
    const I64 mask = std::max(covering_mask(a), covering_mask(b));
    if (a.low >= 0 && b.low >= 0) return {{std::max(a.low, b.low), mask}};
    const I64 high = a.high < 0 || b.high < 0 ? -1 : mask;
    return {{std::min(a.low, b.low), high}};
}

RangeOfResult BitXor::range(const ValueRange& a, const ValueRange& b) {
    const I64 mask = std::max(covering_mask(a), covering_mask(b));
    const bool a_has_sign = a.low >= 0 || a.high < 0;
    const bool b_has_sign = b.low >= 0 || b.high < 0;
    if (!a_has_sign || !b_has_sign) return {{-mask - 1, mask}};
    if ((a.low >= 0) == (b.low >= 0)) return {{0, mask}};
    return {{-mask - 1, -1}};
}

RangeOfResult Hash::range(const ValueRange&, const ValueRange& buckets) {
    return {{0, std::max<I64>(buckets.high, 1) - 1}, buckets.low < 1};
}

}  // namespace operators

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
    if (kind == NodeKind::conditional) return {chosen(a, b, c), false};
    if (is_lazy(kind)) return {both_or_either(kind, a, b), false};
    return visit_operator(kind, [&]<typename Operator>(Operator) {
        if constexpr (requires { Operator::range(a, b); }) {
            return Operator::range(a, b);
        } else {
            return at_corners<Operator>(a, b);
        }
    });
}

std::optional<std::size_t> same_as_operand(NodeKind kind, const ValueRange& a,
                                           const ValueRange& b) {
    return visit_operator(kind, [&]<typename Operator>(Operator) {
        if constexpr (requires { Operator::same_as(a, b); }) {
            return Operator::same_as(a, b);
        } else {
            return std::optional<std::size_t>();
        }
    });
}

}  // namespace coalprof
