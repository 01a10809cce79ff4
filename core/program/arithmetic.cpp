#include "core/program/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

template <typename Function>
void each(LaneValue& result, Function function) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) result.at[lane] = function(lane);
}

[[noreturn]] void split(const Growth& growth, std::uint32_t parts = 64) {
    throw BoxMustSplit{.dimensions = dimensions_of(growth), .parts = parts};
}

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
Growth negated(const Growth& a) { return scaled(a, ~std::uint64_t{0}); }

// The number that all active lanes have.
std::optional<std::uint64_t> uniform(const LaneValue& value, std::uint32_t active) {
    std::optional<std::uint64_t> number;
    bool differ = false;
    each_lane(active, [&](std::uint32_t lane) {
        if (number && *number != value.at[lane]) differ = true;
        number = value.at[lane];
    });
    return differ ? std::nullopt : number;
}

// How the quotients and remainders of a growing number by a fixed one go on through the box.
enum class Quotients : std::uint8_t {
    grow,  // the number grows by multiples of the divisor: remainders stay
    stay,  // no lane comes to the next multiple: remainders grow as the number does
};
// Where neither holds, every so-many-th block may be alike, and else shorter stretches are.
constexpr std::int64_t most_residues = 64;
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
    split(value.growth, 2);
}

// Whether a growing number's bits from `shift` on are all that grows.
void need_multiples(const LaneValue& value, std::uint32_t active, std::uint32_t shift,
                    const BlockBox& box, std::uint8_t bits) {
    if (shift == 0) return;
    if (quotients_of(value, active, box, static_cast<Wide>(1) << shift, bits, false) !=
        Quotients::grow)
        split(value.growth, 2);
}

// Of a product of a growing number with a fixed one.
Growth growth_of_product(const LaneValue& a, const LaneValue& b, std::uint32_t active,
                         bool is_signed_64 = false, std::uint8_t bits = 64) {
    if (a.is_fixed() && b.is_fixed()) return {};
    if (!a.is_fixed() && !b.is_fixed()) split(sum_of(a.growth, b.growth));
    const LaneValue& growing = a.is_fixed() ? b : a;
    const auto factor = uniform(a.is_fixed() ? a : b, active);
    if (!factor) split(growing.growth);
    return scaled(growing.growth,
                  is_signed_64 ? static_cast<std::uint64_t>(extended(*factor, bits)) : *factor);
}

// -1, 0, 1: how a compares to b in all blocks of the box. Throws where it changes.
struct Order {
    std::array<std::int8_t, warp_lanes> of{};
};
Order order_of(const LaneValue& a, const LaneValue& b, std::uint32_t active, const BlockBox& box,
               std::uint8_t bits, bool is_signed) {
    Order order;
    const Growth between = sum_of(a.growth, negated(b.growth));
    const bool grows = !a.is_fixed() || !b.is_fixed();
    if (grows) {
        need_no_wrap(a, active, box, bits, is_signed);
        need_no_wrap(b, active, box, bits, is_signed);
    }
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
            split(between, 2);
    });
    return order;
}

double real(std::uint64_t value, std::uint8_t bits) {
    return bits == 32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)))
                      : std::bit_cast<double>(value);
}
std::uint64_t bits_of(double value, std::uint8_t bits) {
    return bits == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                      : std::bit_cast<std::uint64_t>(value);
}

bool holds(PtxRelation relation, int order) {
    switch (relation) {
        case PtxRelation::eq:
            return order == 0;
        case PtxRelation::ne:
            return order != 0;
        case PtxRelation::lt:
            return order < 0;
        case PtxRelation::le:
            return order <= 0;
        case PtxRelation::gt:
            return order > 0;
        default:
            return order >= 0;
    }
}

std::uint32_t compared_reals(const PtxStep& step, const LaneValue& a, const LaneValue& b) {
    std::uint32_t lanes = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const double left = real(a.at[lane], step.from.bits);
        const double right = real(b.at[lane], step.from.bits);
        const bool is_nan = std::isnan(left) || std::isnan(right);
        bool is_true = false;
        if (step.relation == PtxRelation::is_nan || step.relation == PtxRelation::is_number)
            is_true = is_nan == (step.relation == PtxRelation::is_nan);
        else if (is_nan)
            is_true = !step.is_ordered;
        else
            is_true = holds(step.relation, left < right ? -1 : left > right ? 1 : 0);
        lanes |= std::uint32_t{is_true} << lane;
    }
    return lanes;
}

void compare(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
             LaneValue& result) {
    std::uint32_t lanes = 0;
    if (step.from.kind == 'f') {
        need_fixed(*in[0]);
        need_fixed(*in[1]);
        lanes = compared_reals(step, *in[0], *in[1]);
    } else {
        const Order order =
            order_of(*in[0], *in[1], active, box, step.from.bits, step.from.kind == 's');
        each_lane(active, [&](std::uint32_t lane) {
            lanes |= std::uint32_t{holds(step.relation, order.of[lane])} << lane;
        });
    }
    if (step.variant != 0 && step.inputs > 2) {
        const auto other = static_cast<std::uint32_t>(in[2]->at[0]);
        lanes = step.variant == '&'   ? lanes & other
                : step.variant == '|' ? lanes | other
                                      : lanes ^ other;
    }
    if (step.type.kind == 'p') {
        result.at[0] = lanes;
        return;
    }
    const std::uint64_t yes = step.type.kind == 'f' ? 0x3F80'0000u : 0xFFFF'FFFFu;
    each(result, [&](std::uint32_t lane) { return (lanes >> lane & 1) != 0 ? yes : 0; });
}

// Of two numbers one for each lane, `first` for those of the mask.
void choose(const LaneValue& a, const LaneValue& b, std::uint32_t first, std::uint32_t active,
            LaneValue& result) {
    each(result,
         [&](std::uint32_t lane) { return (first >> lane & 1) != 0 ? a.at[lane] : b.at[lane]; });
    if ((first & active) == active)
        result.growth = a.growth;
    else if ((first & active) == 0 || a.growth == b.growth)
        result.growth = b.growth;
    else
        split(sum_of(a.growth, negated(b.growth)));
}

void least_or_most(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
                   LaneValue& result) {
    const bool wants_least = step.opcode == Opcode::minimum;
    if (step.type.kind == 'f') {
        need_fixed(*in[0]);
        need_fixed(*in[1]);
        each(result, [&](std::uint32_t lane) {
            const double a = real(in[0]->at[lane], step.type.bits);
            const double b = real(in[1]->at[lane], step.type.bits);
            return bits_of(wants_least ? std::fmin(a, b) : std::fmax(a, b), step.type.bits);
        });
        return;
    }
    const Order order =
        order_of(*in[0], *in[1], active, box, step.type.bits, step.type.kind == 's');
    std::uint32_t first = 0;
    each_lane(active, [&](std::uint32_t lane) {
        const bool takes_first = wants_least ? order.of[lane] <= 0 : order.of[lane] >= 0;
        first |= std::uint32_t{takes_first} << lane;
    });
    choose(*in[0], *in[1], first, active, result);
}

// and, or and xor of a growing number with a fixed one, which may only touch bits that stay.
void bitwise(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
             LaneValue& result) {
    const LaneValue& a = *in[0];
    const LaneValue& b = *in[1];
    const std::uint64_t mask = mask_of(step.type.bits);
    each(result, [&](std::uint32_t lane) {
        const std::uint64_t x = a.at[lane], y = b.at[lane];
        return (step.opcode == Opcode::bit_and  ? x & y
                : step.opcode == Opcode::bit_or ? x | y
                                                : x ^ y) &
               mask;
    });
    if (a.is_fixed() && b.is_fixed()) return;
    if (!a.is_fixed() && !b.is_fixed()) split(sum_of(a.growth, b.growth));
    const LaneValue& growing = a.is_fixed() ? b : a;
    const LaneValue& other = a.is_fixed() ? a : b;
    std::uint64_t ones = 0, all = mask;
    each_lane(active, [&](std::uint32_t lane) {
        ones |= other.at[lane];
        all &= other.at[lane];
    });
    const auto low = static_cast<std::uint32_t>(std::bit_width(ones & mask));
    const auto zeros = static_cast<std::uint32_t>(std::bit_width(~all & mask));
    if (step.opcode != Opcode::bit_and) {  // the bits that it changes lie below those that grow
        need_multiples(growing, active, low, box, step.type.bits);
        result.growth = growing.growth;
    } else if (std::has_single_bit((ones & mask) + 1)) {  // low bits only
        const Wide unit = static_cast<Wide>(1) << low;
        if (quotients_of(growing, active, box, unit, step.type.bits, false) == Quotients::stay)
            result.growth = growing.growth;
    } else if (std::has_single_bit((~all & mask) + 1)) {  // all but low bits
        const Wide unit = static_cast<Wide>(1) << zeros;
        if (quotients_of(growing, active, box, unit, step.type.bits, false) == Quotients::grow)
            result.growth = growing.growth;
    } else {
        split(growing.growth);
    }
}

void shift_right(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
                 LaneValue& result) {
    const std::uint8_t bits = step.type.bits;
    const bool is_signed = step.type.kind == 's';
    const auto shifted = [&](std::uint32_t lane) -> std::uint64_t {
        const std::uint64_t by = in[1]->at[lane] & 0xFFFF'FFFFu;
        if (is_signed)
            return static_cast<std::uint64_t>(extended(in[0]->at[lane], bits) >>
                                              std::min<std::uint64_t>(by, bits - 1u)) &
                   mask_of(bits);
        return by >= bits ? 0 : in[0]->at[lane] >> by;
    };
    need_fixed(*in[1]);
    each(result, shifted);
    if (in[0]->is_fixed()) return;
    const auto by = uniform(*in[1], active);
    if (!by || *by >= bits) split(in[0]->growth);
    if (quotients_of(*in[0], active, box, static_cast<Wide>(1) << *by, bits, is_signed) ==
        Quotients::stay)
        return;
    need_no_wrap(*in[0], active, box, bits, is_signed);
    for (std::size_t d = 0; d < 3; ++d) result.growth[d] = in[0]->growth[d] >> *by;
}

void shift_left(const PtxStep& step, const Inputs& in, std::uint32_t active, LaneValue& result) {
    const std::uint8_t bits = step.type.bits;
    need_fixed(*in[1]);
    each(result, [&](std::uint32_t lane) {
        const std::uint64_t by = in[1]->at[lane] & 0xFFFF'FFFFu;
        return by >= bits ? 0 : in[0]->at[lane] << by & mask_of(bits);
    });
    if (in[0]->is_fixed()) return;
    const auto by = uniform(*in[1], active);
    if (!by) split(in[0]->growth);
    if (*by < bits) result.growth = wrapped(scaled(in[0]->growth, std::uint64_t{1} << *by), bits);
}

// Of a growing number, by a divisor that is the same in all lanes.
void divide_growing(const PtxStep& step, const Inputs& in, std::uint32_t active,
                    const BlockBox& box, LaneValue& result) {
    if (in[0]->is_fixed() && in[1]->is_fixed()) return;
    need_fixed(*in[1]);
    const std::uint8_t bits = step.type.bits;
    const bool is_signed = step.type.kind == 's';
    const auto by = uniform(*in[1], active);
    const Wide divisor = !by         ? 0
                         : is_signed ? static_cast<Wide>(extended(*by, bits))
                                     : static_cast<Wide>(*by);
    if (divisor <= 0) split(in[0]->growth);
    need_no_wrap(*in[0], active, box, bits, is_signed);
    const Spread spread = spread_of(in[0]->growth, box);
    if (is_signed)  // it rounds to zero: below it quotients are others
        each_lane(active, [&](std::uint32_t lane) {
            if (extended(in[0]->at[lane], bits) + spread.least < 0) split(in[0]->growth, 2);
        });
    const Quotients quotients = quotients_of(*in[0], active, box, divisor, bits, is_signed);
    const bool wants_rest = step.opcode == Opcode::remainder;
    if (quotients == Quotients::stay && wants_rest) result.growth = in[0]->growth;
    if (quotients == Quotients::grow && !wants_rest)
        for (std::size_t d = 0; d < 3; ++d)
            result.growth[d] = static_cast<std::int64_t>(in[0]->growth[d] / divisor);
}

void divide(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
            LaneValue& result) {
    const std::uint8_t bits = step.type.bits;
    divide_growing(step, in, active, box, result);
    const bool wants_rest = step.opcode == Opcode::remainder;
    each(result, [&](std::uint32_t lane) -> std::uint64_t {
        const std::uint64_t a = in[0]->at[lane], b = in[1]->at[lane];
        if (b == 0) return wants_rest ? a : mask_of(bits);
        if (step.type.kind != 's') return wants_rest ? a % b : a / b;
        const std::int64_t x = extended(a, bits), y = extended(b, bits);
        if (y == -1) return wants_rest ? 0 : (~a + 1) & mask_of(bits);
        return static_cast<std::uint64_t>(wants_rest ? x % y : x / y) & mask_of(bits);
    });
}

std::uint64_t rounded(double value, PtxType type, char variant) {
    if (std::isnan(value)) return 0;
    const double whole = variant == 'n'   ? std::nearbyint(value)
                         : variant == 'm' ? std::floor(value)
                         : variant == 'p' ? std::ceil(value)
                                          : std::trunc(value);
    if (type.kind == 's') {
        const double most = std::ldexp(1.0, type.bits - 1);
        const std::int64_t least = extended(std::uint64_t{1} << (type.bits - 1), type.bits);
        const std::int64_t limited = whole >= most    ? ~least
                                     : whole <= -most ? least
                                                      : static_cast<std::int64_t>(whole);
        return static_cast<std::uint64_t>(limited) & mask_of(type.bits);
    }
    if (whole <= 0) return 0;
    return whole >= std::ldexp(1.0, type.bits) ? mask_of(type.bits)
                                               : static_cast<std::uint64_t>(whole);
}

void convert(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
             LaneValue& result) {
    const LaneValue& a = *in[0];
    const PtxType to = step.type, from = step.from;
    if (to.kind == 'f' || from.kind == 'f') {
        need_fixed(a);
        each(result, [&](std::uint32_t lane) -> std::uint64_t {
            if (to.kind != 'f') return rounded(real(a.at[lane], from.bits), to, step.variant);
            const double value = from.kind == 'f' ? real(a.at[lane], from.bits)
                                 : from.kind == 's'
                                     ? static_cast<double>(extended(a.at[lane], from.bits))
                                     : static_cast<double>(a.at[lane] & mask_of(from.bits));
            return bits_of(value, to.bits);
        });
        return;
    }
    const bool is_signed = from.kind == 's';
    each(result, [&](std::uint32_t lane) {
        const std::uint64_t value = a.at[lane] & mask_of(from.bits);
        return (is_signed ? static_cast<std::uint64_t>(extended(value, from.bits)) : value) &
               mask_of(to.bits);
    });
    if (a.is_fixed()) return;
    if (to.bits > from.bits) need_no_wrap(a, active, box, from.bits, is_signed);
    result.growth = wrapped(a.growth, to.bits);
}

std::uint64_t bits_counted(const PtxStep& step, std::uint64_t value) {
    const std::uint8_t bits = step.type.bits;
    value &= mask_of(bits);
    switch (step.opcode) {
        case Opcode::popc:
            return static_cast<std::uint64_t>(std::popcount(value));
        case Opcode::clz:
            return static_cast<std::uint64_t>(std::countl_zero(value)) - (64u - bits);
        case Opcode::bfind: {
            const bool is_negative = step.type.kind == 's' && extended(value, bits) < 0;
            const std::uint64_t of = (is_negative ? ~value : value) & mask_of(bits);
            return of == 0 ? 0xFFFF'FFFFu : static_cast<std::uint64_t>(std::bit_width(of)) - 1;
        }
        default: {  // brev
            std::uint64_t reversed = 0;
            for (std::uint8_t bit = 0; bit < bits; ++bit)
                reversed |= (value >> bit & 1) << (bits - 1 - bit);
            return reversed;
        }
    }
}

std::uint64_t high_half(std::uint64_t a, std::uint64_t b, PtxType type) {
    if (type.kind == 's') {
        const Wide product = static_cast<Wide>(extended(a, type.bits)) * extended(b, type.bits);
        return static_cast<std::uint64_t>(product >> type.bits) & mask_of(type.bits);
    }
    __extension__ using WideNatural = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<WideNatural>(a) * b) >> type.bits) &
           mask_of(type.bits);
}

std::uint64_t wide_product(std::uint64_t a, std::uint64_t b, PtxType type) {
    return type.kind == 's'
               ? static_cast<std::uint64_t>(extended(a, type.bits) * extended(b, type.bits))
               : (a & mask_of(type.bits)) * (b & mask_of(type.bits));
}

std::uint64_t bytes_permuted(std::uint64_t a, std::uint64_t b, std::uint64_t selector) {
    const std::uint64_t both = (b << 32) | (a & 0xFFFF'FFFFu);
    std::uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
        const std::uint64_t nibble = selector >> (4 * i) & 0xF;
        std::uint64_t byte = both >> (8 * (nibble & 7)) & 0xFF;
        if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
        result |= byte << (8 * i);
    }
    return result;
}

std::uint64_t extracted(const PtxStep& step, std::uint64_t a, std::uint64_t position,
                        std::uint64_t length) {
    const std::uint8_t bits = step.type.bits;
    position &= 0xFF;
    length &= 0xFF;
    const std::uint64_t field =
        position >= bits || length == 0
            ? 0
            : (a & mask_of(bits)) >> position &
                  mask_of(static_cast<std::uint8_t>(std::min<std::uint64_t>(length, 64)));
    if (step.type.kind != 's' || length == 0) return field;
    const std::uint64_t top = std::min<std::uint64_t>(position + length - 1, bits - 1u);
    const bool is_negative = (a >> top & 1) != 0;
    const std::uint64_t known = top >= position ? top - position + 1 : 0;
    if (!is_negative || known >= 64) return field;
    return (field | ~mask_of(static_cast<std::uint8_t>(known))) & mask_of(bits);
}

std::uint64_t inserted(std::uint8_t bits, std::uint64_t a, std::uint64_t b, std::uint64_t position,
                       std::uint64_t length) {
    position &= 0xFF;
    length &= 0xFF;
    if (position >= bits || length == 0) return b;
    const std::uint64_t field =
        mask_of(static_cast<std::uint8_t>(std::min<std::uint64_t>(length, 64))) << position &
        mask_of(bits);
    return (b & ~field) | (a << position & field);
}

double real_of(const PtxStep& step, double a, double b) {
    switch (step.opcode) {
        case Opcode::add:
            return a + b;
        case Opcode::sub:
            return a - b;
        case Opcode::multiply:
            return a * b;
        case Opcode::divide:
            return a / b;
        case Opcode::reciprocal:
            return 1 / a;
        case Opcode::square_root:
            return std::sqrt(a);
        case Opcode::inverse_root:
            return 1 / std::sqrt(a);
        case Opcode::sine:
            return std::sin(a);
        case Opcode::cosine:
            return std::cos(a);
        case Opcode::log2:
            return std::log2(a);
        case Opcode::exp2:
            return std::pow(2.0, a);  // exp2 is younger than the C library that packages ask for
        case Opcode::hyperbolic_tangent:
            return std::tanh(a);
        case Opcode::absolute:
            return std::fabs(a);
        case Opcode::negate:
            return -a;
        default:  // copysign d, a, b: the sign is a's
            return std::copysign(b, a);
    }
}

bool compute_real(const PtxStep& step, const Inputs& in, LaneValue& result) {
    if (step.type.kind != 'f') return false;
    switch (step.opcode) {
        case Opcode::move:
        case Opcode::select:
        case Opcode::slct:
        case Opcode::compare:
        case Opcode::convert:
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::pack:
        case Opcode::unpack:
            return false;
        default:
            break;
    }
    for (std::size_t i = 0; i < step.inputs; ++i) need_fixed(*in[i]);
    const std::uint8_t bits = step.type.bits;
    const LaneValue& second = step.inputs > 1 ? *in[1] : *in[0];
    each(result, [&](std::uint32_t lane) {
        const double a = real(in[0]->at[lane], bits);
        const double b = real(second.at[lane], bits);
        if (step.opcode == Opcode::mad) {
            const double c = real(in[2]->at[lane], bits);
            return bits == 32 ? bits_of(std::fma(a, b, c), 32) : bits_of(std::fma(a, b, c), 64);
        }
        return bits_of(real_of(step, a, b), bits);
    });
    return true;
}

// Instructions whose numbers must be the same in all blocks of the box.
std::uint64_t of_fixed(const PtxStep& step, const Inputs& in, std::uint32_t lane) {
    const std::uint8_t bits = step.type.bits;
    const auto at = [&](std::size_t i) { return in[i]->at[lane]; };
    switch (step.opcode) {
        case Opcode::multiply_high:
            return high_half(at(0), at(1), step.type);
        case Opcode::mad_high:
            return high_half(at(0), at(1), step.type) + at(2);
        case Opcode::mul24:
            return wide_product(at(0) & 0xFF'FFFF, at(1) & 0xFF'FFFF, {step.type.kind, 24});
        case Opcode::mad24:
            return wide_product(at(0) & 0xFF'FFFF, at(1) & 0xFF'FFFF, {step.type.kind, 24}) + at(2);
        case Opcode::sad: {
            const bool is_less = step.type.kind == 's'
                                     ? extended(at(0), bits) < extended(at(1), bits)
                                     : at(0) < at(1);
            return (is_less ? at(1) - at(0) : at(0) - at(1)) + at(2);
        }
        case Opcode::absolute:
            return extended(at(0), bits) < 0 ? ~at(0) + 1 : at(0);
        case Opcode::popc:
        case Opcode::clz:
        case Opcode::bfind:
        case Opcode::brev:
            return bits_counted(step, at(0));
        case Opcode::bfe:
            return extracted(step, at(0), at(1), at(2));
        case Opcode::bfi:
            return inserted(bits, at(0), at(1), at(2), at(3));
        case Opcode::prmt:
            return bytes_permuted(at(0), at(1), at(2));
        case Opcode::logical_not:
            return at(0) == 0 ? 1 : 0;
        case Opcode::lop3: {
            std::uint64_t value = 0;
            for (std::uint32_t row = 0; row < 8; ++row)
                if ((at(3) >> row & 1) != 0)
                    value |= ((row & 4) != 0 ? at(0) : ~at(0)) & ((row & 2) != 0 ? at(1) : ~at(1)) &
                             ((row & 1) != 0 ? at(2) : ~at(2));
            return value;
        }
        case Opcode::funnel_left:
        case Opcode::funnel_right: {
            const std::uint64_t both = at(1) << 32 | (at(0) & 0xFFFF'FFFFu);
            const std::uint64_t by =
                step.variant == 'c' ? std::min<std::uint64_t>(at(2), 32) : at(2) & 31;
            return step.opcode == Opcode::funnel_right ? both >> by
                   : by == 0                           ? at(1)
                                                       : both >> (32 - by);
        }
        default:  // is_space
            break;
    }
    const std::uint64_t address = at(0);
    const bool is_shared = address >= shared_window && address < local_window;
    const bool is_local = address >= local_window;
    return step.state == PtxState::shared  ? is_shared
           : step.state == PtxState::local ? is_local
                                           : !is_shared && !is_local;
}

void compute_fixed(const PtxStep& step, const Inputs& in, LaneValue& result) {
    for (std::size_t i = 0; i < step.inputs; ++i) need_fixed(*in[i]);
    const bool is_predicate = step.type.kind == 'p';
    const bool is_count =
        step.opcode == Opcode::popc || step.opcode == Opcode::clz || step.opcode == Opcode::bfind;
    const std::uint64_t mask = mask_of(
        is_count || step.opcode == Opcode::mul24 || step.opcode == Opcode::mad24 ? 32
                                                                                 : step.type.bits);
    if (!is_predicate) {
        each(result, [&](std::uint32_t lane) { return of_fixed(step, in, lane) & mask; });
        return;
    }
    std::uint64_t lanes = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        lanes |= (of_fixed(step, in, lane) & 1) << lane;
    result.at[0] = lanes;
}

void compute_predicate(const PtxStep& step, const Inputs& in, LaneValue& result) {
    const std::uint64_t a = in[0]->at[0];
    const std::uint64_t b = step.inputs > 1 ? in[1]->at[0] : 0;
    result.at[0] = step.opcode == Opcode::bit_and   ? a & b
                   : step.opcode == Opcode::bit_or  ? a | b
                   : step.opcode == Opcode::bit_xor ? a ^ b
                   : step.opcode == Opcode::bit_not ? ~a
                                                    : a;
    result.at[0] &= all_lanes;
}

std::uint64_t offset_of_window(PtxState state) {
    return state == PtxState::shared ? shared_window : state == PtxState::local ? local_window : 0;
}

void pack(const PtxStep& step, const Inputs& in, LaneValue& result) {
    const std::uint8_t part = static_cast<std::uint8_t>(step.type.bits / step.inputs);
    for (std::size_t i = 0; i < step.inputs; ++i) need_fixed(*in[i]);
    each(result, [&](std::uint32_t lane) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < step.inputs; ++i)
            value |= (in[i]->at[lane] & mask_of(part)) << (part * i);
        return value;
    });
}

}  // namespace

void need_fixed(const LaneValue& value) {
    if (!value.is_fixed()) split(value.growth);
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
        if (at + spread.least < least || at + spread.most > most) split(value.growth, 2);
    });
}

void compute(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
             LaneValue& result) {
    result.growth = {};
    if (compute_real(step, in, result)) return;
    const std::uint8_t bits = step.type.bits;
    const std::uint64_t mask = mask_of(bits);
    switch (step.opcode) {
        case Opcode::move:
            if (step.type.kind == 'p') return compute_predicate(step, in, result);
            result.at = in[0]->at;
            result.growth = in[0]->growth;
            return;
        case Opcode::add:
            each(result, [&](std::uint32_t i) { return (in[0]->at[i] + in[1]->at[i]) & mask; });
            result.growth = wrapped(sum_of(in[0]->growth, in[1]->growth), bits);
            return;
        case Opcode::sub:
            each(result, [&](std::uint32_t i) { return (in[0]->at[i] - in[1]->at[i]) & mask; });
            result.growth = wrapped(sum_of(in[0]->growth, negated(in[1]->growth)), bits);
            return;
        case Opcode::multiply:
        case Opcode::mad: {
            const bool is_mad = step.opcode == Opcode::mad;
            each(result, [&](std::uint32_t i) {
                return (in[0]->at[i] * in[1]->at[i] + (is_mad ? in[2]->at[i] : 0)) & mask;
            });
            Growth growth = growth_of_product(*in[0], *in[1], active);
            if (is_mad) growth = sum_of(growth, in[2]->growth);
            result.growth = wrapped(growth, bits);
            return;
        }
        case Opcode::multiply_wide:
        case Opcode::mad_wide: {
            const bool is_mad = step.opcode == Opcode::mad_wide;
            const bool is_signed = step.type.kind == 's';
            need_no_wrap(*in[0], active, box, bits, is_signed);
            need_no_wrap(*in[1], active, box, bits, is_signed);
            each(result, [&](std::uint32_t i) {
                return (wide_product(in[0]->at[i], in[1]->at[i], step.type) +
                        (is_mad ? in[2]->at[i] : 0)) &
                       mask_of(static_cast<std::uint8_t>(2 * bits));
            });
            Growth growth = growth_of_product(*in[0], *in[1], active, is_signed, bits);
            if (is_mad) growth = sum_of(growth, in[2]->growth);
            result.growth = wrapped(growth, static_cast<std::uint8_t>(2 * bits));
            return;
        }
        case Opcode::negate:
            each(result, [&](std::uint32_t i) { return (~in[0]->at[i] + 1) & mask; });
            result.growth = wrapped(negated(in[0]->growth), bits);
            return;
        case Opcode::bit_not:
            if (step.type.kind == 'p') return compute_predicate(step, in, result);
            each(result, [&](std::uint32_t i) { return ~in[0]->at[i] & mask; });
            result.growth = wrapped(negated(in[0]->growth), bits);
            return;
        case Opcode::bit_and:
        case Opcode::bit_or:
        case Opcode::bit_xor:
            if (step.type.kind == 'p') return compute_predicate(step, in, result);
            return bitwise(step, in, active, box, result);
        case Opcode::shift_left:
            return shift_left(step, in, active, result);
        case Opcode::shift_right:
            return shift_right(step, in, active, box, result);
        case Opcode::divide:
        case Opcode::remainder:
            return divide(step, in, active, box, result);
        case Opcode::minimum:
        case Opcode::maximum:
            return least_or_most(step, in, active, box, result);
        case Opcode::compare:
            return compare(step, in, active, box, result);
        case Opcode::select:
            return choose(*in[0], *in[1], static_cast<std::uint32_t>(in[2]->at[0]), active, result);
        case Opcode::slct: {
            need_fixed(*in[2]);
            std::uint32_t first = 0;
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
                const bool is_positive = step.from.kind == 'f'
                                             ? real(in[2]->at[lane], step.from.bits) >= 0
                                             : extended(in[2]->at[lane], 32) >= 0;
                first |= std::uint32_t{is_positive} << lane;
            }
            return choose(*in[0], *in[1], first, active, result);
        }
        case Opcode::convert:
            return convert(step, in, active, box, result);
        case Opcode::to_generic:
        case Opcode::from_generic: {
            const std::uint64_t window = offset_of_window(step.state);
            const std::uint64_t more = step.opcode == Opcode::to_generic ? window : ~window + 1;
            each(result, [&](std::uint32_t i) { return in[0]->at[i] + more; });
            result.growth = in[0]->growth;
            return;
        }
        case Opcode::pack:
            return pack(step, in, result);
        default:
            return compute_fixed(step, in, result);
    }
}

}  // namespace coalprof
