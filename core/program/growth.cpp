#include "core/program/growth.h"

#include <algorithm>
#include <numeric>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

// Where quotients neither grow nor stay, blocks at a fixed distance may be equal, and else shorter
// stretches are.
constexpr std::int64_t most_residues = 64;

}  // namespace

Growth wrapped(const Growth& growth, std::uint8_t bits) {
    Growth same = growth;
    for (std::int64_t& one : same) one = extended(static_cast<std::uint64_t>(one), bits);
    return same;
}

Growth sum_of(const Growth& a, const Growth& b) {
    Growth sum;
    for (std::size_t d = 0; d < 3; ++d)
        sum[d] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a[d]) +
                                           static_cast<std::uint64_t>(b[d]));
    return sum;
}

Growth scaled(const Growth& a, std::uint64_t by) {
    Growth product;
    for (std::size_t d = 0; d < 3; ++d)
        product[d] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a[d]) * by);
    return product;
}

std::optional<std::uint64_t> number_of_all(const LaneValue& value, std::uint32_t active) {
    std::optional<std::uint64_t> number;
    bool differ = false;
    each_lane(active, [&](std::uint32_t lane) {
        if (number && *number != value.at[lane]) differ = true;
        number = value.at[lane];
    });
    return differ ? std::nullopt : number;
}

Quotients quotients_of(const LaneValue& value, std::uint32_t active, const BlockBox& box,
                       Wide divisor, std::uint8_t bits, bool is_signed) {
    const auto rest = [&](std::int64_t one) { return static_cast<Wide>(one) % divisor; };
    if (std::ranges::all_of(value.growth, [&](std::int64_t one) { return rest(one) == 0; }))
        return Quotients::grow;
    need_no_wrap(value, active, box, bits, is_signed);
    const Spread spread = spread_of(value.growth, box);
    const auto quotient = [&](Wide number) {
        return number < 0 ? -((-number + divisor - 1) / divisor) : number / divisor;
    };
    bool stay = true;
    each_lane(active, [&](std::uint32_t lane) {
        const Wide at = is_signed ? static_cast<Wide>(extended(value.at[lane], bits))
                                  : static_cast<Wide>(value.at[lane]);
        stay = stay && quotient(at + spread.least) == quotient(at + spread.most);
    });
    if (stay) return Quotients::stay;
    for (std::size_t d = 0; d < 3; ++d) {
        if (rest(value.growth[d]) == 0 || divisor >> 63 != 0) continue;
        const auto unit = static_cast<std::int64_t>(divisor);
        const std::int64_t stride = unit / std::gcd(value.growth[d], unit);
        if (stride < box.count[d] && stride <= most_residues)
            throw BoxMustSplit{.dimensions = static_cast<std::uint8_t>(1 << d),
                               .stride = static_cast<std::uint32_t>(stride)};
    }
    split_box(value.growth, 2);
}

void need_multiples(const LaneValue& value, std::uint32_t active, std::uint32_t shift,
                    const BlockBox& box, std::uint8_t bits) {
    if (shift == 0) return;
    if (quotients_of(value, active, box, static_cast<Wide>(1) << shift, bits, false) !=
        Quotients::grow)
        split_box(value.growth, 2);
}

Growth growth_of_product(const LaneValue& a, const LaneValue& b, std::uint32_t active,
                         bool is_signed_64, std::uint8_t bits) {
    if (a.is_fixed() && b.is_fixed()) return {};
    if (!a.is_fixed() && !b.is_fixed()) split_box(sum_of(a.growth, b.growth));
    const LaneValue& growing = a.is_fixed() ? b : a;
    const auto factor = number_of_all(a.is_fixed() ? a : b, active);
    if (!factor) split_box(growing.growth);
    return scaled(growing.growth,
                  is_signed_64 ? static_cast<std::uint64_t>(extended(*factor, bits)) : *factor);
}

LaneOrder order_of(const LaneValue& a, const LaneValue& b, std::uint32_t active,
                   const BlockBox& box, std::uint8_t bits, bool is_signed) {
    LaneOrder order;
    if (a.is_fixed() && b.is_fixed()) {
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            const std::int64_t x = extended(a.at[lane], bits), y = extended(b.at[lane], bits);
            order.of[lane] = is_signed ? static_cast<std::int8_t>((x > y) - (x < y))
                                       : static_cast<std::int8_t>((a.at[lane] > b.at[lane]) -
                                                                  (a.at[lane] < b.at[lane]));
        }
        return order;
    }
    const Growth between = sum_of(a.growth, negated(b.growth));
    need_no_wrap(a, active, box, bits, is_signed);
    need_no_wrap(b, active, box, bits, is_signed);
    const Spread spread = spread_of(between, box);
    const auto wide = [&](std::uint64_t value) {
        return is_signed ? static_cast<Wide>(extended(value, bits)) : static_cast<Wide>(value);
    };
    each_lane(active, [&](std::uint32_t lane) {
        const Wide apart = wide(a.at[lane]) - wide(b.at[lane]);
        if (apart + spread.least > 0)
            order.of[lane] = 1;
        else if (apart + spread.most < 0)
            order.of[lane] = -1;
        else if (apart == 0 && spread.least == 0 && spread.most == 0)
            order.of[lane] = 0;
        else
            split_box(between, 2);
    });
    return order;
}

void need_no_wrap(const LaneValue& value, std::uint32_t active, const BlockBox& box,
                  std::uint8_t bits, bool is_signed) {
    if (value.is_fixed()) return;
    const Spread spread = spread_of(value.growth, box);
    const Wide least = is_signed ? -(static_cast<Wide>(1) << (bits - 1)) : 0;
    const Wide most = (static_cast<Wide>(1) << (is_signed ? bits - 1 : bits)) - 1;
    each_lane(active, [&](std::uint32_t lane) {
        const Wide at = is_signed ? static_cast<Wide>(extended(value.at[lane], bits))
                                  : static_cast<Wide>(value.at[lane]);
        if (at + spread.least < least || at + spread.most > most) split_box(value.growth, 2);
    });
}

}  // namespace coalprof
