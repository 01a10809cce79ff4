#include "core/formula/lane_kernels.h"

#include <bit>
#include <limits>
#include <utility>

#include "core/formula/arithmetic.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// A kernel's loop, to be inlined into what is compiled for one or the other kind of processor.
#define COALPROF_BODY [[gnu::always_inline]] inline

namespace coalprof {
namespace {

using I64 = std::int64_t;
using U64 = std::uint64_t;
__extension__ using U128 = unsigned __int128;

constexpr I64 lowest = std::numeric_limits<I64>::min();

constexpr U64 bits(I64 value) { return static_cast<U64>(value); }
constexpr I64 number(U64 value) { return static_cast<I64>(value); }
// All ones where `flag` holds.
constexpr I64 mask_of(bool flag) { return -I64{flag}; }
// All ones for negative numbers, by a shift: SSE2 cannot compare 64-bit integers.
constexpr I64 sign_mask(I64 value) { return number(0 - (bits(value) >> 63)); }
constexpr I64 nonzero_mask(I64 value) { return sign_mask(number(bits(value) | (0 - bits(value)))); }

struct Registers {
    const I64* values;
    I64 operator[](std::size_t k) const { return values[k]; }
};
struct OneForAll {
    I64 value;
    I64 operator[](std::size_t) const { return value; }
};

template <OperandForm form>
auto left_operand(const LaneStep& step, const LaneState& state) {
    if constexpr (form == OperandForm::scalar_left) {
        return OneForAll{step.scalar};
    } else {
        return Registers{state.registers[step.a].lane.data()};
    }
}
template <OperandForm form>
auto right_operand(const LaneStep& step, const LaneState& state) {
    if constexpr (form == OperandForm::scalar_right) {
        return OneForAll{step.scalar};
    } else {
        return Registers{state.registers[step.b].lane.data()};
    }
}

// `Operator::value(a, b)` in every lane.
template <typename Operator, OperandForm form>
COALPROF_BODY bool plain(const LaneStep& step, const LaneState& state) {
    const auto a = left_operand<form>(step, state);
    const auto b = right_operand<form>(step, state);
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = Operator::value(a[k], b[k]);
    return false;
}

// The same, and `Operator::failed(a, b, value)`: a word whose sign tells.
template <typename Operator, OperandForm form>
COALPROF_BODY bool checked(const LaneStep& step, const LaneState& state) {
    const auto a = left_operand<form>(step, state);
    const auto b = right_operand<form>(step, state);
    const I64* guard = state.registers[step.guard].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const I64 value = Operator::value(a[k], b[k]);
        failures |= Operator::failed(a[k], b[k], value) & guard[k];
        to[k] = value;
    }
    return failures < 0;
}

// ---- the operators; values wrap around where they do not fit ----

struct Negate {
    static I64 value(I64 a, I64) { return number(0 - bits(a)); }
    static I64 failed(I64 a, I64, I64 value) { return a & value; }
};
struct Complement {
    static I64 value(I64 a, I64) { return ~a; }
};
struct LogicalNot {
    static I64 value(I64 a, I64) { return 1 + nonzero_mask(a); }
};
struct Absolute {
    static I64 value(I64 a, I64) {
        return number((bits(a) ^ bits(sign_mask(a))) - bits(sign_mask(a)));
    }
    static I64 failed(I64 a, I64, I64 value) { return a & value; }
};
struct Multiply {
    static I64 value(I64 a, I64 b) { return number(bits(a) * bits(b)); }
    static I64 failed(I64 a, I64 b, I64) {
        I64 product = 0;
        return mask_of(__builtin_mul_overflow(a, b, &product));
    }
};
struct Add {
    static I64 value(I64 a, I64 b) { return number(bits(a) + bits(b)); }
    static I64 failed(I64 a, I64 b, I64 value) { return (a ^ value) & (b ^ value); }
};
struct Subtract {
    static I64 value(I64 a, I64 b) { return number(bits(a) - bits(b)); }
    static I64 failed(I64 a, I64 b, I64 value) { return (a ^ b) & (a ^ value); }
};
// Divisors that would trap are replaced; the lanes that have them count as failed.
bool cannot_divide(I64 a, I64 b) { return b == 0 || (b == -1 && a == lowest); }
struct Divide {
    static I64 value(I64 a, I64 b) { return a / (cannot_divide(a, b) ? 1 : b); }
    static I64 failed(I64 a, I64 b, I64) { return mask_of(cannot_divide(a, b)); }
};
struct Remainder {
    static I64 value(I64 a, I64 b) { return a % (cannot_divide(a, b) ? 1 : b); }
    static I64 failed(I64 a, I64 b, I64) { return mask_of(cannot_divide(a, b)); }
};
struct ShiftLeft {
    static I64 value(I64 a, I64 b) { return number(bits(a) << (b & 63)); }
    static I64 failed(I64 a, I64 b, I64 value) {
        return mask_of(b < 0 || b > 63 || (value >> (b & 63)) != a);
    }
};
struct ShiftRight {
    static I64 value(I64 a, I64 b) { return a >> (b & 63); }
    static I64 failed(I64, I64 b, I64) { return mask_of(b < 0 || b > 63); }
};
// For numbers that are not negative: SSE2 has no arithmetic shift of 64-bit integers.
struct ShiftRightUnsigned {
    static I64 value(I64 a, I64 b) { return number(bits(a) >> (b & 63)); }
};
struct Less {
    static I64 value(I64 a, I64 b) { return a < b; }
};
struct LessEqual {
    static I64 value(I64 a, I64 b) { return a <= b; }
};
// The same where a - b is known to fit.
struct NearLess {
    static I64 value(I64 a, I64 b) { return number((bits(a) - bits(b)) >> 63); }
};
struct NearLessEqual {
    static I64 value(I64 a, I64 b) { return number(1 - ((bits(b) - bits(a)) >> 63)); }
};
struct Equal {
    static I64 value(I64 a, I64 b) { return 1 + nonzero_mask(a ^ b); }
};
struct NotEqual {
    static I64 value(I64 a, I64 b) { return -nonzero_mask(a ^ b); }
};
struct BitAnd {
    static I64 value(I64 a, I64 b) { return a & b; }
};
struct BitXor {
    static I64 value(I64 a, I64 b) { return a ^ b; }
};
struct BitOr {
    static I64 value(I64 a, I64 b) { return a | b; }
};
struct Minimum {
    static I64 value(I64 a, I64 b) { return a < b ? a : b; }
};
struct Maximum {
    static I64 value(I64 a, I64 b) { return a > b ? a : b; }
};
struct LogicalAnd {
    static I64 value(I64 a, I64 b) { return -(nonzero_mask(a) & nonzero_mask(b)); }
};
struct LogicalOr {
    static I64 value(I64 a, I64 b) { return -nonzero_mask(a | b); }
};
struct Truth01 {
    static I64 value(I64 a, I64) { return -nonzero_mask(a); }
};
struct GuardNonzero {
    static I64 value(I64 guard, I64 b) { return guard & nonzero_mask(b); }
};
struct GuardZero {
    static I64 value(I64 guard, I64 b) { return guard & ~nonzero_mask(b); }
};

// Both factors in 0 .. 2^32-1: one SSE2 instruction for two lanes, but compilers make 64-bit
// products of them, one lane after the other.
template <OperandForm form>
COALPROF_BODY bool multiply_halves(const LaneStep& step, const LaneState& state) {
#ifdef __SSE2__
    const I64* a = state.registers[step.a].lane.data();
    const I64* b = state.registers[step.b].lane.data();
    I64* to = state.registers[step.to].lane.data();
    const __m128i scalar = _mm_set1_epi64x(step.scalar);
    const auto two_of = [](const I64* lanes) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes));
    };
    for (std::size_t k = 0; k < warp_lanes; k += 2) {
        const __m128i left = form == OperandForm::scalar_left ? scalar : two_of(a + k);
        const __m128i right = form == OperandForm::scalar_right ? scalar : two_of(b + k);
        _mm_store_si128(reinterpret_cast<__m128i*>(to + k), _mm_mul_epu32(left, right));
    }
    return false;
#else
    return plain<Multiply, form>(step, state);
#endif
}

// A body compiled once more for processors with AVX2.
template <LaneKernel body>
COALPROF_AVX2 bool wide(const LaneStep& step, const LaneState& state) {
    return body(step, state);
}
template <LaneKernel body>
LaneKernel compiled_for(Vectors vectors) {
    return vectors == Vectors::avx2 ? wide<body> : body;
}

template <typename Operator>
LaneKernel plain_of(const KernelWanted& wanted) {
    switch (wanted.form) {
        case OperandForm::registers:
            return compiled_for<plain<Operator, OperandForm::registers>>(wanted.vectors);
        case OperandForm::scalar_right:
            return compiled_for<plain<Operator, OperandForm::scalar_right>>(wanted.vectors);
        case OperandForm::scalar_left:
            return compiled_for<plain<Operator, OperandForm::scalar_left>>(wanted.vectors);
    }
    return nullptr;
}
template <typename Operator>
LaneKernel kernel_of(const KernelWanted& wanted) {
    if (!wanted.checked) return plain_of<Operator>(wanted);
    switch (wanted.form) {
        case OperandForm::registers:
            return compiled_for<checked<Operator, OperandForm::registers>>(wanted.vectors);
        case OperandForm::scalar_right:
            return compiled_for<checked<Operator, OperandForm::scalar_right>>(wanted.vectors);
        case OperandForm::scalar_left:
            return compiled_for<checked<Operator, OperandForm::scalar_left>>(wanted.vectors);
    }
    return nullptr;
}

// ---- division by one number, as a multiplication ----
//
// For 0 <= x < 2^N and d >= 1, with s = ceil(log2 d) and m = ceil(2^(N+s) / d):
// x / d == (x * m) >> (N + s), because m*d exceeds 2^(N+s) by less than d <= 2^s (Granlund and
// Montgomery 1994, theorem 4.2). m fits N + 1 bits.

// N = 31. Products of two halves are one SSE2 instruction for two lanes, but compilers make 64-bit
// products of them.
template <bool remainder>
COALPROF_BODY void divide_halves(const LaneStep& step, const I64* a, I64* to) {
#ifdef __SSE2__
    const __m128i magic = _mm_set1_epi64x(number(step.magic));
    const __m128i divisor = _mm_set1_epi64x(step.scalar);
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(step.shift));
    for (std::size_t k = 0; k < warp_lanes; k += 2) {
        const __m128i x = _mm_load_si128(reinterpret_cast<const __m128i*>(a + k));
        __m128i result = _mm_srl_epi64(_mm_mul_epu32(x, magic), shift);
        if constexpr (remainder) result = _mm_sub_epi64(x, _mm_mul_epu32(result, divisor));
        _mm_store_si128(reinterpret_cast<__m128i*>(to + k), result);
    }
#else
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const U64 x = bits(a[k]) & 0xFFFF'FFFFu;
        const U64 quotient = x * step.magic >> step.shift;
        to[k] = number(remainder ? x - (quotient & 0xFFFF'FFFFu) * bits(step.scalar) : quotient);
    }
#endif
}

template <bool remainder>
COALPROF_BODY bool divide_narrow(const LaneStep& step, const LaneState& state) {
    divide_halves<remainder>(step, state.registers[step.a].lane.data(),
                             state.registers[step.to].lane.data());
    return false;
}

template <bool remainder>
COALPROF_BODY bool divide_wide(const LaneStep& step, const LaneState& state) {  // N = 63
    const I64* a = state.registers[step.a].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    const U64 magic = step.magic;
    const U64 divisor = bits(step.scalar);
    const std::uint32_t shift = step.shift - 64;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const U64 x = bits(a[k]);
        const U64 quotient = static_cast<U64>(U128{x} * magic >> 64) >> shift;
        to[k] = number(remainder ? x - quotient * divisor : quotient);
    }
    return false;
}

constexpr I64 narrow_limit = I64{1} << 31;

// Makes the step a division by `divisor`, from 1 to 2^N.
void set_magic(LaneStep& step, U64 divisor, std::uint32_t n) {
    const auto digits = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
    step.scalar = number(divisor);
    step.shift = n + digits;
    // 2^(63+s) needs 127 bits at most: s is 63 for the largest divisor.
    step.magic = static_cast<U64>(((U128{1} << step.shift) + divisor - 1) / divisor);
}

// Divisors from 2; dividends from 0.
void choose_division(LaneStep& step, const KernelWanted& wanted) {
    const bool remainder = wanted.kind == NodeKind::remainder;
    const U64 divisor = bits(step.scalar);
    if (std::has_single_bit(divisor)) {
        step.scalar = remainder ? step.scalar - 1 : std::countr_zero(divisor);
        step.kernel = remainder ? plain_of<BitAnd>(wanted) : plain_of<ShiftRightUnsigned>(wanted);
    } else if (wanted.a.high < narrow_limit && step.scalar < narrow_limit) {
        set_magic(step, divisor, 31);
        step.kernel = remainder ? compiled_for<divide_narrow<true>>(wanted.vectors)
                                : compiled_for<divide_narrow<false>>(wanted.vectors);
    } else {
        set_magic(step, divisor, 63);
        step.kernel = remainder ? compiled_for<divide_wide<true>>(wanted.vectors)
                                : compiled_for<divide_wide<false>>(wanted.vectors);
    }
}

LaneKernel multiply_halves_of(const KernelWanted& wanted) {
    switch (wanted.form) {
        case OperandForm::registers:
            return compiled_for<multiply_halves<OperandForm::registers>>(wanted.vectors);
        case OperandForm::scalar_right:
            return compiled_for<multiply_halves<OperandForm::scalar_right>>(wanted.vectors);
        case OperandForm::scalar_left:
            return compiled_for<multiply_halves<OperandForm::scalar_left>>(wanted.vectors);
    }
    return nullptr;
}

bool is_half(const ValueRange& range) { return range.low >= 0 && range.high <= 0xFFFF'FFFF; }
bool is_near(const ValueRange& range) {
    constexpr I64 reach = I64{1} << 61;
    return range.low > -reach && range.high < reach;
}

OperandForm swapped(OperandForm form) {
    switch (form) {
        case OperandForm::scalar_left:
            return OperandForm::scalar_right;
        case OperandForm::scalar_right:
            return OperandForm::scalar_left;
        case OperandForm::registers:
            break;
    }
    return OperandForm::registers;
}

// Of an operator that no special case took.
LaneKernel kernel_for(const KernelWanted& wanted) {
    const bool near = is_near(wanted.a) && is_near(wanted.b);
    switch (wanted.kind) {
        case NodeKind::negate:
            return kernel_of<Negate>(wanted);
        case NodeKind::complement:
            return plain_of<Complement>(wanted);
        case NodeKind::logical_not:
            return plain_of<LogicalNot>(wanted);
        case NodeKind::absolute:
            return kernel_of<Absolute>(wanted);
        case NodeKind::multiply:
            if (is_half(wanted.a) && is_half(wanted.b)) return multiply_halves_of(wanted);
            return kernel_of<Multiply>(wanted);
        case NodeKind::divide:
            return kernel_of<Divide>(wanted);
        case NodeKind::remainder:
            return kernel_of<Remainder>(wanted);
        case NodeKind::add:
            return kernel_of<Add>(wanted);
        case NodeKind::subtract:
            return kernel_of<Subtract>(wanted);
        case NodeKind::shift_left:
            return kernel_of<ShiftLeft>(wanted);
        case NodeKind::shift_right:
            if (wanted.a.low >= 0 && !wanted.checked) return plain_of<ShiftRightUnsigned>(wanted);
            return kernel_of<ShiftRight>(wanted);
        case NodeKind::less:
            return near ? plain_of<NearLess>(wanted) : plain_of<Less>(wanted);
        case NodeKind::less_equal:
            return near ? plain_of<NearLessEqual>(wanted) : plain_of<LessEqual>(wanted);
        case NodeKind::equal:
            return plain_of<Equal>(wanted);
        case NodeKind::not_equal:
            return plain_of<NotEqual>(wanted);
        case NodeKind::bit_and:
            return plain_of<BitAnd>(wanted);
        case NodeKind::bit_xor:
            return plain_of<BitXor>(wanted);
        case NodeKind::bit_or:
            return plain_of<BitOr>(wanted);
        case NodeKind::minimum:
            return plain_of<Minimum>(wanted);
        case NodeKind::maximum:
            return plain_of<Maximum>(wanted);
        default:
            return nullptr;  // leaves and lazy operators are no steps of this kind
    }
}

// ---- steps that are no strict operator of one or two operands ----

// hash(x, `scalar`, c) with both numbers known. `magic` is as for a division of 64 bits: m has 65
// of them, of which the top one is left out (Granlund and Montgomery 1994, figure 4.1).
COALPROF_BODY bool hash_constants(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    const Scatter scatter{bits(step.scalar), bits(step.scalar2)};
    const U64 magic = step.magic;
    const std::uint32_t shift = step.shift;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const U64 x = scatter.word(bits(a[k]));
        const U64 high = static_cast<U64>(U128{x} * magic >> 64);
        const U64 quotient = (((x - high) >> 1) + high) >> shift;
        to[k] = number(x - quotient * scatter.elements);
    }
    return false;
}
COALPROF_BODY bool hash_power_of_two(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    const Scatter scatter{bits(step.scalar), bits(step.scalar2)};
    for (std::size_t k = 0; k < warp_lanes; ++k)
        to[k] = number(scatter.word(bits(a[k])) & (scatter.elements - 1));
    return false;
}

COALPROF_BODY bool hash_plain(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    const I64* b = state.registers[step.b].lane.data();
    const I64* c = state.registers[step.c].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = hashed(a[k], b[k] < 1 ? 1 : b[k], c[k]);
    return false;
}
COALPROF_BODY bool hash_checked(const LaneStep& step, const LaneState& state) {
    const I64* b = state.registers[step.b].lane.data();
    const I64* guard = state.registers[step.guard].lane.data();
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k) failures |= mask_of(b[k] < 1) & guard[k];
    hash_plain(step, state);
    return failures < 0;
}

COALPROF_BODY bool select_lanes(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    const I64* b = state.registers[step.b].lane.data();
    const I64* c = state.registers[step.c].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const I64 mask = nonzero_mask(a[k]);
        to[k] = (b[k] & mask) | (c[k] & ~mask);
    }
    return false;
}

COALPROF_BODY bool fill_scalar(const LaneStep& step, const LaneState& state) {
    state.registers[step.to].lane.fill(step.scalar);
    return false;
}

// Whether the 32 threads from `first` are a warp and no part of two, as those of a launch are where
// blocks are made of whole warps.
bool are_one_warp(const Scope& scope, U64 first) {
    return scope.block % warp_lanes == 0 && first % warp_lanes == 0;
}

// to[k] = start + k
COALPROF_BODY void count_from(U64 start, I64* __restrict to) {
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = number(start + k);
}

// to[k] = the thread's number in its block; blocks may end within the 32 threads.
COALPROF_BODY void count_in_block(const Scope& scope, U64 first, I64* __restrict to) {
    U64 in_block = first % scope.block;
    if (in_block + warp_lanes <= scope.block) return count_from(in_block, to);
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        to[k] = number(in_block);
        if (++in_block == scope.block) in_block = 0;
    }
}

COALPROF_BODY bool fill_i(const LaneStep& step, const LaneState& state) {
    count_from(state.first_thread, state.registers[step.to].lane.data());
    return false;
}

COALPROF_BODY bool fill_tid(const LaneStep& step, const LaneState& state) {
    count_in_block(*state.scope, state.first_thread, state.registers[step.to].lane.data());
    return false;
}

// A thread's quotient or remainder in its block: lane, warp, tid.x, tid.y.
template <bool remainder>
COALPROF_BODY bool fill_part_of_tid(const LaneStep& step, const LaneState& state) {
    LaneValues in_block;
    count_in_block(*state.scope, state.first_thread, in_block.lane.data());
    divide_halves<remainder>(step, in_block.lane.data(), state.registers[step.to].lane.data());
    return false;
}

COALPROF_BODY bool fill_lane(const LaneStep& step, const LaneState& state) {
    if (!are_one_warp(*state.scope, state.first_thread)) return fill_part_of_tid<true>(step, state);
    count_from(0, state.registers[step.to].lane.data());
    return false;
}
COALPROF_BODY bool fill_warp(const LaneStep& step, const LaneState& state) {
    const Scope& scope = *state.scope;
    if (!are_one_warp(scope, state.first_thread)) return fill_part_of_tid<false>(step, state);
    state.registers[step.to].lane.fill(number(state.first_thread % scope.block / warp_lanes));
    return false;
}

COALPROF_BODY bool fill_block(const LaneStep& step, const LaneState& state) {
    const auto variable = static_cast<Variable>(step.scalar);
    const Scope& scope = *state.scope;
    const U64 first = state.first_thread;
    LaneValues& to = state.registers[step.to];
    if (first % scope.block + warp_lanes <= scope.block) {
        to.lane.fill(value_of(variable, scope, first));
        return false;
    }
    for (std::size_t k = 0; k < warp_lanes; ++k) to.lane[k] = value_of(variable, scope, first + k);
    return false;
}

}  // namespace

void choose_kernel(LaneStep& step, KernelWanted wanted) {
    if (wanted.kind == NodeKind::greater || wanted.kind == NodeKind::greater_equal) {
        // a > b is b < a
        wanted.kind = wanted.kind == NodeKind::greater ? NodeKind::less : NodeKind::less_equal;
        wanted.form = swapped(wanted.form);
        std::swap(wanted.a, wanted.b);
        std::swap(step.a, step.b);
    }
    const bool divides = wanted.kind == NodeKind::divide || wanted.kind == NodeKind::remainder;
    if (divides && wanted.form == OperandForm::scalar_right && step.scalar > 1 && wanted.a.low >= 0)
        return choose_division(step, wanted);
    step.kernel = kernel_for(wanted);
}

void choose_variable(LaneStep& step, Variable variable, const Scope& scope, Vectors vectors) {
    switch (variable) {
        case Variable::i:
            step.kernel = compiled_for<fill_i>(vectors);
            break;
        case Variable::tid:
            step.kernel = compiled_for<fill_tid>(vectors);
            break;
        case Variable::lane:
        case Variable::warp:
            set_magic(step, warp_lanes, 31);
            step.kernel = variable == Variable::lane ? compiled_for<fill_lane>(vectors)
                                                     : compiled_for<fill_warp>(vectors);
            break;
        case Variable::tid_x:
        case Variable::tid_y:
            set_magic(step, scope.block_x, 31);
            step.kernel = variable == Variable::tid_x
                              ? compiled_for<fill_part_of_tid<true>>(vectors)
                              : compiled_for<fill_part_of_tid<false>>(vectors);
            break;
        default:
            step.scalar = static_cast<I64>(variable);
            step.kernel = compiled_for<fill_block>(vectors);
            break;
    }
}

void choose_hash(LaneStep& step, Vectors vectors) {
    const U64 buckets = bits(step.scalar);
    if (std::has_single_bit(buckets)) {
        step.kernel = compiled_for<hash_power_of_two>(vectors);
        return;
    }
    const auto digits = static_cast<std::uint32_t>(std::bit_width(buckets - 1));
    const U128 power = U128{1} << digits;
    step.magic = static_cast<U64>(((power - buckets) << 64) / buckets) + 1;
    step.shift = digits - 1;
    step.kernel = compiled_for<hash_constants>(vectors);
}

LaneKernel scalar_kernel(Vectors vectors) { return compiled_for<fill_scalar>(vectors); }
LaneKernel hash_kernel(bool checked, Vectors vectors) {
    return checked ? compiled_for<hash_checked>(vectors) : compiled_for<hash_plain>(vectors);
}
LaneKernel select_kernel(Vectors vectors) { return compiled_for<select_lanes>(vectors); }
LaneKernel truth_kernel(Vectors vectors) {
    return compiled_for<plain<Truth01, OperandForm::scalar_right>>(vectors);
}
LaneKernel guard_kernel(bool where_zero, Vectors vectors) {
    return where_zero ? compiled_for<plain<GuardZero, OperandForm::registers>>(vectors)
                      : compiled_for<plain<GuardNonzero, OperandForm::registers>>(vectors);
}
LaneKernel and_kernel(Vectors vectors) {
    return compiled_for<plain<LogicalAnd, OperandForm::registers>>(vectors);
}
LaneKernel or_kernel(Vectors vectors) {
    return compiled_for<plain<LogicalOr, OperandForm::registers>>(vectors);
}

}  // namespace coalprof
