#include "core/program/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

#include "core/access/lane_set.h"
#include "core/program/numbers.h"

namespace coalprof {
namespace {

template <typename Function>
void each(LaneValue& result, Function function) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) result.at[lane] = function(lane);
}

// The number of the type that is nearest.
std::uint64_t limited(Wide number, PtxType type) {
    const Wide most = static_cast<Wide>(mask_of(type.bits)) >> (type.kind == 's' ? 1 : 0);
    const Wide least = type.kind == 's' ? -most - 1 : 0;
    return static_cast<std::uint64_t>(std::clamp(number, least, most)) & mask_of(type.bits);
}

// While it lives the processor rounds as ".rz", ".rm" or ".rp" says.
class Rounding {
 public:
    explicit Rounding(char mode) : is_changed_(mode != 0) {
        if (is_changed_)
            std::fesetround(mode == 'z' ? FE_TOWARDZERO : mode == 'm' ? FE_DOWNWARD : FE_UPWARD);
    }
    ~Rounding() {
        if (is_changed_) std::fesetround(FE_TONEAREST);
    }
    Rounding(const Rounding&) = delete;
    Rounding& operator=(const Rounding&) = delete;

 private:
    bool is_changed_;
};

void compare(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
             LaneValue& result) {
    std::uint32_t lanes = 0;
    if (step.from.is_real()) {
        need_fixed(*in[0]);
        need_fixed(*in[1]);
        lanes = compared_reals(step, *in[0], *in[1]);
    } else if (in[0]->is_fixed() && in[1]->is_fixed()) {
        lanes = compared_integers(step, *in[0], *in[1]);
    } else {
        const LaneOrder order =
            order_of(*in[0], *in[1], active, box, step.from.bits, step.from.kind == 's');
        each_lane(active, [&](std::uint32_t lane) {
            lanes |= std::uint32_t{relation_holds(step.relation, order.of[lane])} << lane;
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
    const std::uint64_t yes = step.type.is_real() ? 0x3F80'0000u : 0xFFFF'FFFFu;
    each(result, [&](std::uint32_t lane) { return (lanes >> lane & 1) != 0 ? yes : 0; });
}

// Chooses one of two numbers for each lane, `first` for those of the mask.
void choose(const LaneValue& a, const LaneValue& b, std::uint32_t first, std::uint32_t active,
            LaneValue& result) {
    each(result,
         [&](std::uint32_t lane) { return (first >> lane & 1) != 0 ? a.at[lane] : b.at[lane]; });
    if ((first & active) == active)
        result.growth = a.growth;
    else if ((first & active) == 0 || a.growth == b.growth)
        result.growth = b.growth;
    else
        split_box(sum_of(a.growth, negated(b.growth)));
}

void least_or_most(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
                   LaneValue& result) {
    const bool wants_least = step.opcode == Opcode::minimum;
    if (step.type.is_real()) {
        need_fixed(*in[0]);
        need_fixed(*in[1]);
        each(result, [&](std::uint32_t lane) {
            const double a = real_number(in[0]->at[lane], step.type);
            const double b = real_number(in[1]->at[lane], step.type);
            return bits_of_real(wants_least ? std::fmin(a, b) : std::fmax(a, b), step.type);
        });
        return;
    }
    const LaneOrder order =
        order_of(*in[0], *in[1], active, box, step.type.bits, step.type.kind == 's');
    std::uint32_t first = 0;
    each_lane(active, [&](std::uint32_t lane) {
        const bool takes_first = wants_least ? order.of[lane] <= 0 : order.of[lane] >= 0;
        first |= std::uint32_t{takes_first} << lane;
    });
    choose(*in[0], *in[1], first, active, result);
}

// and, or and xor of a growing number with a fixed one that only touches constant bits.
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
    if (!a.is_fixed() && !b.is_fixed()) split_box(sum_of(a.growth, b.growth));
    const LaneValue& growing = a.is_fixed() ? b : a;
    const LaneValue& other = a.is_fixed() ? a : b;
    std::uint64_t ones = 0, all = mask;
    each_lane(active, [&](std::uint32_t lane) {
        ones |= other.at[lane];
        all &= other.at[lane];
    });
    const auto low = static_cast<std::uint32_t>(std::bit_width(ones & mask));
    const auto zeros = static_cast<std::uint32_t>(std::bit_width(~all & mask));
    if (step.opcode != Opcode::bit_and) {  // the bits that it changes are below the growing ones
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
        split_box(growing.growth);
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
    const auto by = number_of_all(*in[1], active);
    if (!by || *by >= bits) split_box(in[0]->growth);
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
    const auto by = number_of_all(*in[1], active);
    if (!by) split_box(in[0]->growth);
    if (*by < bits) result.growth = wrapped(scaled(in[0]->growth, std::uint64_t{1} << *by), bits);
}

// Divides a growing number by a divisor that is the same in all lanes.
void divide_growing(const PtxStep& step, const Inputs& in, std::uint32_t active,
                    const BlockBox& box, LaneValue& result) {
    if (in[0]->is_fixed() && in[1]->is_fixed()) return;
    need_fixed(*in[1]);
    const std::uint8_t bits = step.type.bits;
    const bool is_signed = step.type.kind == 's';
    const auto by = number_of_all(*in[1], active);
    const Wide divisor = !by         ? 0
                         : is_signed ? static_cast<Wide>(extended(*by, bits))
                                     : static_cast<Wide>(*by);
    if (divisor <= 0) split_box(in[0]->growth);
    need_no_wrap(*in[0], active, box, bits, is_signed);
    const Spread spread = spread_of(in[0]->growth, box);
    if (is_signed)  // division rounds towards zero: below it quotients differ
        each_lane(active, [&](std::uint32_t lane) {
            if (extended(in[0]->at[lane], bits) + spread.least < 0) split_box(in[0]->growth, 2);
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
        const std::uint64_t a = in[0]->at[lane] & mask_of(bits);
        const std::uint64_t b = in[1]->at[lane] & mask_of(bits);
        if (b == 0) return wants_rest ? a : mask_of(bits);
        if (step.type.kind != 's') return wants_rest ? a % b : a / b;
        const std::int64_t x = extended(a, bits), y = extended(b, bits);
        if (y == -1) return wants_rest ? 0 : (~a + 1) & mask_of(bits);
        return static_cast<std::uint64_t>(wants_rest ? x % y : x / y) & mask_of(bits);
    });
}

void convert(const PtxStep& step, const Inputs& in, std::uint32_t active, const BlockBox& box,
             LaneValue& result) {
    const LaneValue& a = *in[0];
    const PtxType to = step.type, from = step.from;
    if (to.is_real() || from.is_real()) {
        need_fixed(a);
        const Rounding rounding(step.rounding);
        return convert_reals(step, a, result);
    }
    const bool is_signed = from.kind == 's';
    const auto number = [&](std::uint32_t lane) {
        const std::uint64_t value = a.at[lane] & mask_of(from.bits);
        return is_signed ? static_cast<Wide>(extended(value, from.bits)) : static_cast<Wide>(value);
    };
    if (step.is_saturated) {
        need_fixed(a);
        each(result, [&](std::uint32_t lane) { return limited(number(lane), to); });
        return;
    }
    each(result, [&](std::uint32_t lane) {
        return static_cast<std::uint64_t>(number(lane)) & mask_of(to.bits);
    });
    if (a.is_fixed()) return;
    if (to.bits > from.bits) need_no_wrap(a, active, box, from.bits, is_signed);
    result.growth = wrapped(a.growth, to.bits);
}

// Sums and products of f32 and f64, which often make indices: twice as fast as by way of double.
template <typename Real, typename Word>
bool compute_plain(const PtxStep& step, const Inputs& in, LaneValue& result) {
    const auto at = [&](std::size_t i, std::uint32_t lane) {
        return std::bit_cast<Real>(static_cast<Word>(in[i]->at[lane]));
    };
    const auto fill = [&](auto value_of) {
        each(result, [&](std::uint32_t lane) { return std::bit_cast<Word>(value_of(lane)); });
        return true;
    };
    switch (step.opcode) {
        case Opcode::add:
            return fill([&](std::uint32_t lane) { return at(0, lane) + at(1, lane); });
        case Opcode::sub:
            return fill([&](std::uint32_t lane) { return at(0, lane) - at(1, lane); });
        case Opcode::multiply:
            return fill([&](std::uint32_t lane) { return at(0, lane) * at(1, lane); });
        case Opcode::mad:
            return fill([&](std::uint32_t lane) {
                return std::fma(at(0, lane), at(1, lane), at(2, lane));
            });
        default: return false;
    }
}

void compute_each_real(const PtxStep& step, const Inputs& in, LaneValue& result) {
    if (step.type.bits == 32 && compute_plain<float, std::uint32_t>(step, in, result)) return;
    if (step.type.bits == 64 && compute_plain<double, std::uint64_t>(step, in, result)) return;
    const LaneValue& second = step.inputs > 1 ? *in[1] : *in[0];
    each(result, [&](std::uint32_t lane) {
        const double a = real_number(in[0]->at[lane], step.type);
        const double b = real_number(second.at[lane], step.type);
        const double value = step.opcode == Opcode::mad
                                 ? std::fma(a, b, real_number(in[2]->at[lane], step.type))
                                 : real_of(step, a, b);
        return bits_of_real(value, step.type);
    });
}

bool compute_real(const PtxStep& step, const Inputs& in, LaneValue& result) {
    if (!step.type.is_real()) return false;
    switch (step.opcode) {
        case Opcode::move:
        case Opcode::select:
        case Opcode::slct:
        case Opcode::compare:
        case Opcode::convert:
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::pack:
        case Opcode::unpack: return false;
        default: break;
    }
    for (std::size_t i = 0; i < step.inputs; ++i) need_fixed(*in[i]);
    const Rounding rounding(step.rounding);
    compute_each_real(step, in, result);
    if (step.is_saturated)
        each(result, [&](std::uint32_t lane) {
            return bits_of_real(saturated(real_number(result.at[lane], step.type)), step.type);
        });
    return true;
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

// add.sat and sub.sat.
void add_saturated(const PtxStep& step, const Inputs& in, LaneValue& result) {
    need_fixed(*in[0]);
    need_fixed(*in[1]);
    each(result, [&](std::uint32_t lane) {
        const Wide a = extended(in[0]->at[lane], step.type.bits);
        const Wide b = extended(in[1]->at[lane], step.type.bits);
        return limited(step.opcode == Opcode::add ? a + b : a - b, step.type);
    });
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
    return state == PtxState::shared  ? shared_window
           : state == PtxState::local ? local_window
           : state == PtxState::param ? param_window
                                      : 0;
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
            if (step.is_saturated) return add_saturated(step, in, result);
            each(result, [&](std::uint32_t i) { return (in[0]->at[i] + in[1]->at[i]) & mask; });
            result.growth = wrapped(sum_of(in[0]->growth, in[1]->growth), bits);
            return;
        case Opcode::sub:
            if (step.is_saturated) return add_saturated(step, in, result);
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
        case Opcode::shift_left: return shift_left(step, in, active, result);
        case Opcode::shift_right: return shift_right(step, in, active, box, result);
        case Opcode::divide:
        case Opcode::remainder: return divide(step, in, active, box, result);
        case Opcode::minimum:
        case Opcode::maximum: return least_or_most(step, in, active, box, result);
        case Opcode::compare: return compare(step, in, active, box, result);
        case Opcode::select:
            return choose(*in[0], *in[1], static_cast<std::uint32_t>(in[2]->at[0]), active, result);
        case Opcode::slct: {
            need_fixed(*in[2]);
            std::uint32_t first = 0;
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
                const bool is_positive = step.from.is_real()
                                             ? real_number(in[2]->at[lane], step.from) >= 0
                                             : extended(in[2]->at[lane], 32) >= 0;
                first |= std::uint32_t{is_positive} << lane;
            }
            return choose(*in[0], *in[1], first, active, result);
        }
        case Opcode::convert: return convert(step, in, active, box, result);
        case Opcode::to_generic:
        case Opcode::from_generic: {
            const std::uint64_t window = offset_of_window(step.state);
            const std::uint64_t more = step.opcode == Opcode::to_generic ? window : ~window + 1;
            each(result, [&](std::uint32_t i) { return in[0]->at[i] + more; });
            result.growth = in[0]->growth;
            return;
        }
        case Opcode::pack: return pack(step, in, result);
        default: return compute_fixed(step, in, result);
    }
}

}  // namespace coalprof
