#include "core/program/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

namespace coalprof {
namespace {

std::uint64_t bits_counted(const PtxStep& step, std::uint64_t value) {
    const std::uint8_t bits = step.type.bits;
    value &= mask_of(bits);
    switch (step.opcode) {
        case Opcode::popc: return static_cast<std::uint64_t>(std::popcount(value));
        case Opcode::clz: return static_cast<std::uint64_t>(std::countl_zero(value)) - (64u - bits);
        case Opcode::bfind: {
            const bool is_negative = step.type.kind == 's' && extended(value, bits) < 0;
            const std::uint64_t of = (is_negative ? ~value : value) & mask_of(bits);
            if (of == 0) return 0xFFFF'FFFFu;
            const auto highest = static_cast<std::uint64_t>(std::bit_width(of)) - 1;
            return step.variant == 's' ? bits - 1 - highest : highest;  // ".shiftamt"
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

// dp4a: four products of bytes; dp2a: two, of the halves of a and the low or the high two bytes of
// b.
std::uint64_t dot_product(const PtxStep& step, std::uint64_t a, std::uint64_t b) {
    const auto part = [](std::uint64_t value, std::uint8_t bits, std::uint32_t at, bool is_signed) {
        const std::uint64_t field = value >> (bits * at) & mask_of(bits);
        return is_signed ? extended(field, bits) : static_cast<std::int64_t>(field);
    };
    const bool is_four = step.opcode == Opcode::dot4;
    const std::uint8_t width = is_four ? 8 : 16;
    const std::uint32_t first = step.variant == 'h' ? 2 : 0;
    std::int64_t sum = 0;
    for (std::uint32_t i = 0; i < (is_four ? 4u : 2u); ++i)
        sum +=
            part(a, width, i, step.from.kind == 's') * part(b, 8, first + i, step.type.kind == 's');
    return static_cast<std::uint64_t>(sum);
}

}  // namespace

double real_number(std::uint64_t value, PtxType type) {
    if (type.bits == 64) return std::bit_cast<double>(value);
    if (type.kind == 'g') value <<= 16;  // bf16: the high half of an f32
    if (type.bits == 32 || type.kind == 'g')
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    const auto exponent = static_cast<int>(value >> 10 & 0x1F);
    const auto fraction = static_cast<double>(value & 0x3FF);
    double number =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    if (exponent == 31) number = fraction == 0 ? HUGE_VAL : std::nan("");
    return (value & 0x8000) != 0 ? -number : number;
}

std::uint64_t bits_of_real(double value, PtxType type) {
    if (type.bits == 64) return std::bit_cast<std::uint64_t>(value);
    if (type.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type.kind == 'g') {
        const std::uint32_t whole = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        return std::isnan(value) ? 0x7FFF : (whole + 0x7FFF + (whole >> 16 & 1)) >> 16 & 0xFFFF;
    }
    const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return 0x7FFF;
    const double size = std::fabs(value);
    if (size >= 65520) return sign | 0x7C00;
    int exponent = 0;
    std::frexp(size, &exponent);
    const int unit = std::max(exponent - 11, -24);  // weight of the lowest of 11 bits
    const auto fraction = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(size, -unit)));
    // 1024 and more carry into the exponent.
    return sign | (static_cast<std::uint64_t>(unit + 24) * 1024 + fraction);
}

namespace {

// `at(lane)`: the two numbers.
template <typename At>
std::uint32_t lanes_where(PtxRelation relation, At at) {
    const auto all = [&](auto holds) {
        std::uint32_t lanes = 0;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            const auto [a, b] = at(lane);
            lanes |= std::uint32_t{holds(a, b)} << lane;
        }
        return lanes;
    };
    switch (relation) {
        case PtxRelation::eq: return all(std::equal_to());
        case PtxRelation::ne: return all(std::not_equal_to());
        case PtxRelation::lt: return all(std::less());
        case PtxRelation::le: return all(std::less_equal());
        case PtxRelation::gt: return all(std::greater());
        default: return all(std::greater_equal());
    }
}

template <typename At>
std::uint32_t real_lanes_where(const PtxStep& step, At at) {
    std::uint32_t unordered = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const auto [a, b] = at(lane);
        unordered |= std::uint32_t{std::isunordered(a, b)} << lane;
    }
    if (step.relation == PtxRelation::is_nan) return unordered;
    if (step.relation == PtxRelation::is_number) return ~unordered;
    const std::uint32_t lanes = lanes_where(step.relation, at);
    return step.is_ordered ? lanes & ~unordered : lanes | unordered;
}

float short_real(std::uint64_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

}  // namespace

std::uint32_t compared_integers(const PtxStep& step, const LaneValue& a, const LaneValue& b) {
    const std::uint8_t bits = step.from.bits;
    if (step.from.kind != 's')
        return lanes_where(step.relation,
                           [&](std::uint32_t lane) { return std::pair(a.at[lane], b.at[lane]); });
    return lanes_where(step.relation, [&](std::uint32_t lane) {
        return std::pair(extended(a.at[lane], bits), extended(b.at[lane], bits));
    });
}

std::uint32_t compared_reals(const PtxStep& step, const LaneValue& a, const LaneValue& b) {
    if (step.from.kind == 'f' && step.from.bits == 32)
        return real_lanes_where(step, [&](std::uint32_t lane) {
            return std::pair(short_real(a.at[lane]), short_real(b.at[lane]));
        });
    return real_lanes_where(step, [&](std::uint32_t lane) {
        return std::pair(real_number(a.at[lane], step.from), real_number(b.at[lane], step.from));
    });
}

namespace {

// Without the C library's functions where that is exact: they took most of a conversion.
double whole_of(double value, char variant) {
    constexpr double small = 0x1p51, to_even = 0x1.8p52;
    if (!(std::fabs(value) < small))
        return variant == 'n'   ? std::nearbyint(value)
               : variant == 'm' ? std::floor(value)
               : variant == 'p' ? std::ceil(value)
                                : std::trunc(value);
    const double cut = static_cast<double>(static_cast<std::int64_t>(value));
    const double whole = variant == 'n'   ? (value + to_even) - to_even
                         : variant == 'm' ? (cut > value ? cut - 1 : cut)
                         : variant == 'p' ? (cut < value ? cut + 1 : cut)
                                          : cut;
    return std::copysign(whole, value);
}

std::uint64_t integer_of(double value, PtxType type, char variant) {
    if (std::isnan(value)) return 0;
    const double whole = whole_of(value, variant);
    const bool is_signed = type.kind == 's';
    const auto range = static_cast<double>(std::uint64_t{1} << (type.bits - 1));
    const double least = is_signed ? -range : 0, end = is_signed ? range : 2 * range;
    if (whole >= end) return mask_of(type.bits) >> (is_signed ? 1 : 0);
    if (!is_signed && whole >= range && type.bits == 64) return static_cast<std::uint64_t>(whole);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(whole, least))) &
           mask_of(type.bits);
}

// f32 directly, not by way of double: 64 bits would be rounded twice.
template <typename Integer>
std::uint64_t real_of_integer(Integer number, PtxType type) {
    return type.kind == 'f' && type.bits == 32
               ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
               : bits_of_real(static_cast<double>(number), type);
}

}  // namespace

double saturated(double value) { return value > 0 ? std::min(value, 1.0) : 0; }

void convert_reals(const PtxStep& step, const LaneValue& value, LaneValue& result) {
    const PtxType to = step.type, from = step.from;
    const auto each = [&](auto convert) {
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            result.at[lane] = convert(value.at[lane]);
    };
    if (from.kind == 's')
        return each(
            [&](std::uint64_t bits) { return real_of_integer(extended(bits, from.bits), to); });
    if (!from.is_real())
        return each(
            [&](std::uint64_t bits) { return real_of_integer(bits & mask_of(from.bits), to); });
    if (!to.is_real() && from.kind == 'f' && from.bits == 32)
        return each([&](std::uint64_t bits) {
            return integer_of(static_cast<double>(short_real(bits)), to, step.variant);
        });
    each([&](std::uint64_t bits) {
        double real = real_number(bits, from);
        if (!to.is_real()) return integer_of(real, to, step.variant);
        if (step.variant != 0) real = whole_of(real, step.variant);
        return bits_of_real(step.is_saturated ? saturated(real) : real, to);
    });
}

std::uint64_t wide_product(std::uint64_t a, std::uint64_t b, PtxType type) {
    return type.kind == 's'
               ? static_cast<std::uint64_t>(extended(a, type.bits) * extended(b, type.bits))
               : (a & mask_of(type.bits)) * (b & mask_of(type.bits));
}

double real_of(const PtxStep& step, double a, double b) {
    switch (step.opcode) {
        case Opcode::add: return a + b;
        case Opcode::sub: return a - b;
        case Opcode::multiply: return a * b;
        case Opcode::divide: return a / b;
        case Opcode::reciprocal: return 1 / a;
        case Opcode::square_root: return std::sqrt(a);
        case Opcode::inverse_root: return 1 / std::sqrt(a);
        case Opcode::sine: return std::sin(a);
        case Opcode::cosine: return std::cos(a);
        case Opcode::log2: return std::log2(a);
        case Opcode::exp2: return std::pow(2.0, a);  // exp2 needs a newer glibc than packages allow
        case Opcode::hyperbolic_tangent: return std::tanh(a);
        case Opcode::absolute: return std::fabs(a);
        case Opcode::negate: return -a;
        default:  // copysign d, a, b: the sign is a's
            return std::copysign(b, a);
    }
}

std::uint64_t of_fixed(const PtxStep& step, const Inputs& in, std::uint32_t lane) {
    const std::uint8_t bits = step.type.bits;
    const auto at = [&](std::size_t i) { return in[i]->at[lane]; };
    switch (step.opcode) {
        case Opcode::multiply_high: return high_half(at(0), at(1), step.type);
        case Opcode::mad_high: return high_half(at(0), at(1), step.type) + at(2);
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
        case Opcode::absolute: return extended(at(0), bits) < 0 ? ~at(0) + 1 : at(0);
        case Opcode::popc:
        case Opcode::clz:
        case Opcode::bfind:
        case Opcode::brev: return bits_counted(step, at(0));
        case Opcode::bfe: return extracted(step, at(0), at(1), at(2));
        case Opcode::bfi: return inserted(bits, at(0), at(1), at(2), at(3));
        case Opcode::dot4:
        case Opcode::dot2: return dot_product(step, at(0), at(1)) + at(2);
        case Opcode::prmt: return bytes_permuted(at(0), at(1), at(2));
        case Opcode::logical_not: return at(0) == 0 ? 1 : 0;
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
    return state_of_generic(at(0)) == step.state;
}

}  // namespace coalprof
