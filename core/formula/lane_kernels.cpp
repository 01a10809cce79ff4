#include <bit>

#include "core/formula/lane_program.h"
#include "core/formula/operators.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace coalprof {
namespace {

using namespace operators;
__extension__ using U128 = unsigned __int128;

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

template <typename Operator>
COALPROF_INLINED I64 value_in_lane(I64 a, I64 b) {
    if constexpr (requires { Operator::lane(a, b); }) {
        return Operator::lane(a, b);
    } else {
        return I64{Operator::of(a, b)};
    }
}

template <typename Operator>
constexpr bool can_fail = can_overflow<Operator> || requires {
    Operator::fault(I64{}, I64{});
};

// A word whose sign says that `value` is none.
template <typename Operator>
COALPROF_INLINED I64 failure_in_lane(I64 a, I64 b, I64 value) {
    if constexpr (can_overflow<Operator>) {
        return Operator::failed(a, b, value);
    } else {
        return mask_of(Operator::fault(a, b) != Fault::none);
    }
}

template <typename Operator, OperandForm form>
COALPROF_INLINED bool plain(const LaneStep& step, const LaneState& state) {
    const auto a = left_operand<form>(step, state);
    const auto b = right_operand<form>(step, state);
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = value_in_lane<Operator>(a[k], b[k]);
    return false;
}

template <typename Operator, OperandForm form>
COALPROF_INLINED bool checked(const LaneStep& step, const LaneState& state) {
    const auto a = left_operand<form>(step, state);
    const auto b = right_operand<form>(step, state);
    const I64* guard = state.registers[step.guard].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const I64 value = value_in_lane<Operator>(a[k], b[k]);
        failures |= failure_in_lane<Operator>(a[k], b[k], value) & guard[k];
        to[k] = value;
    }
    return failures < 0;
}

// ---- steps without an operator of the language ----

// For numbers that are not negative: SSE2 has no arithmetic shift of 64-bit integers.
struct ShiftRightUnsigned {
    static I64 lane(I64 a, I64 b) { return number(bits(a) >> (b & 63)); }
};
struct And {
    static I64 lane(I64 a, I64 b) { return -(nonzero_mask(a) & nonzero_mask(b)); }
};
struct Or {
    static I64 lane(I64 a, I64 b) { return -nonzero_mask(a | b); }
};
struct Truth01 {
    static I64 lane(I64 a, I64) { return -nonzero_mask(a); }
};
struct GuardNonzero {
    static I64 lane(I64 guard, I64 b) { return guard & nonzero_mask(b); }
};
struct GuardZero {
    static I64 lane(I64 guard, I64 b) { return guard & ~nonzero_mask(b); }
};

// Both factors in 0 .. 2^32-1: one SSE2 instruction for two lanes, but compilers make 64-bit
// products of them, one lane after the other.
template <OperandForm form>
COALPROF_INLINED bool multiply_halves(const LaneStep& step, const LaneState& state) {
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

// make.operator()<form>(), for the operands' form.
template <typename Make>
LaneKernel of_form(OperandForm form, Make make) {
    switch (form) {
        case OperandForm::registers: return make.template operator()<OperandForm::registers>();
        case OperandForm::scalar_right:
            return make.template operator()<OperandForm::scalar_right>();
        case OperandForm::scalar_left: return make.template operator()<OperandForm::scalar_left>();
    }
    return nullptr;
}
template <typename Operator>
LaneKernel plain_of(const KernelWanted& wanted) {
    return of_form(wanted.form, [&]<OperandForm form>() {
        return compiled_for<plain<Operator, form>>(wanted.vectors);
    });
}
template <typename Operator>
LaneKernel kernel_of(const KernelWanted& wanted) {
    if constexpr (can_fail<Operator>)
        if (wanted.checked)
            return of_form(wanted.form, [&]<OperandForm form>() {
                return compiled_for<checked<Operator, form>>(wanted.vectors);
            });
    return plain_of<Operator>(wanted);
}

// ---- division by one number, as a multiplication ----
//
// For 0 <= x < 2^N and d >= 1, with s = ceil(log2 d) and m = ceil(2^(N+s) / d):
// x / d == (x * m) >> (N + s), because m*d exceeds 2^(N+s) by less than d <= 2^s (Granlund and
// Montgomery 1994, theorem 4.2). m fits N + 1 bits.

// N = 31. Products of two halves are one SSE2 instruction for two lanes, but compilers make 64-bit
// products of them.
template <bool remainder>
COALPROF_INLINED void divide_halves(const LaneStep& step, const I64* a, I64* to) {
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
COALPROF_INLINED bool divide_narrow(const LaneStep& step, const LaneState& state) {
    divide_halves<remainder>(step, state.registers[step.a].lane.data(),
                             state.registers[step.to].lane.data());
    return false;
}

template <bool remainder>
COALPROF_INLINED bool divide_wide(const LaneStep& step, const LaneState& state) {  // N = 63
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

bool is_half(const ValueRange& range) { return range.low >= 0 && range.high <= 0xFFFF'FFFF; }
LaneKernel kernel_for(const KernelWanted& wanted) {
    if (wanted.kind == NodeKind::multiply && is_half(wanted.a) && is_half(wanted.b) &&
        !wanted.checked)
        return of_form(wanted.form, [&]<OperandForm form>() {
            return compiled_for<multiply_halves<form>>(wanted.vectors);
        });
    if (wanted.kind == NodeKind::shift_right && wanted.a.low >= 0 && !wanted.checked)
        return plain_of<ShiftRightUnsigned>(wanted);
    return visit_operator(wanted.kind, [&]<typename Operator>(Operator) -> LaneKernel {
        if constexpr (Operator::info.kind == NodeKind::hash) {
            return nullptr;  // choose_hash()
        } else {
            return kernel_of<Operator>(wanted);
        }
    });
}

// ---- steps that are no strict operator of one or two operands ----

// hash(x, `scalar`, c) with both numbers known. `magic` is as for a division of 64 bits: m has 65
// of them, of which the top one is left out (Granlund and Montgomery 1994, figure 4.1).
COALPROF_INLINED bool hash_constants(const LaneStep& step, const LaneState& state) {
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
COALPROF_INLINED bool hash_power_of_two(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    const Scatter scatter{bits(step.scalar), bits(step.scalar2)};
    for (std::size_t k = 0; k < warp_lanes; ++k)
        to[k] = number(scatter.word(bits(a[k])) & (scatter.elements - 1));
    return false;
}

COALPROF_INLINED bool hash_plain(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    const I64* b = state.registers[step.b].lane.data();
    const I64* c = state.registers[step.c].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = Hash::of(a[k], b[k] < 1 ? 1 : b[k], c[k]);
    return false;
}
COALPROF_INLINED bool hash_checked(const LaneStep& step, const LaneState& state) {
    const I64* b = state.registers[step.b].lane.data();
    const I64* guard = state.registers[step.guard].lane.data();
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k)
        failures |= failure_in_lane<Hash>(0, b[k], 0) & guard[k];
    hash_plain(step, state);
    return failures < 0;
}

COALPROF_INLINED bool select_lanes(const LaneStep& step, const LaneState& state) {
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

// Entries beyond a table are 0, and fail where that is checked.
template <bool checked>
bool look_up(const LaneStep& step, const LaneState& state) {
    const LookupTable& table = state.scope->tables[static_cast<std::size_t>(step.scalar)];
    const I64* a = state.registers[step.a].lane.data();
    const I64* guard = checked ? state.registers[step.guard].lane.data() : nullptr;
    I64* __restrict to = state.registers[step.to].lane.data();
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const bool is_held = table.holds(a[k]);
        to[k] = is_held ? (*table.values)[static_cast<std::size_t>(a[k])] : 0;
        if constexpr (checked) failures |= mask_of(!is_held) & guard[k];
    }
    return failures < 0;
}

COALPROF_INLINED bool fill_scalar(const LaneStep& step, const LaneState& state) {
    state.registers[step.to].lane.fill(step.scalar);
    return false;
}

// to[k] = start + k
COALPROF_INLINED void count_from(U64 start, I64* __restrict to) {
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = number(start + k);
}

// to[k] = the thread's number in its block; blocks may end within the 32 threads.
COALPROF_INLINED void count_in_block(const Scope& scope, U64 first, I64* __restrict to) {
    U64 in_block = first % scope.block;
    if (in_block + warp_lanes <= scope.block) return count_from(in_block, to);
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        to[k] = number(in_block);
        if (++in_block == scope.block) in_block = 0;
    }
}

COALPROF_INLINED bool fill_i(const LaneStep& step, const LaneState& state) {
    count_from(state.first_thread, state.registers[step.to].lane.data());
    return false;
}

COALPROF_INLINED bool fill_tid(const LaneStep& step, const LaneState& state) {
    count_in_block(*state.scope, state.first_thread, state.registers[step.to].lane.data());
    return false;
}

// A thread's quotient or remainder in its block: lane, warp, tid.x, tid.y.
template <bool remainder>
COALPROF_INLINED bool fill_part_of_tid(const LaneStep& step, const LaneState& state) {
    LaneValues in_block;
    count_in_block(*state.scope, state.first_thread, in_block.lane.data());
    divide_halves<remainder>(step, in_block.lane.data(), state.registers[step.to].lane.data());
    return false;
}

// Any variable; fast for those that are the same in a whole block.
COALPROF_INLINED bool fill_any(const LaneStep& step, const LaneState& state) {
    const auto variable = static_cast<Variable>(step.scalar);
    const Scope& scope = *state.scope;
    const U64 first = state.first_thread;
    LaneValues& to = state.registers[step.to];
    const bool is_of_block = part_of(variable, scope).counter == VariablePart::Counter::block;
    if (is_of_block && first % scope.block + warp_lanes <= scope.block) {
        to.lane.fill(value_of(variable, scope, first));
        return false;
    }
    for (std::size_t k = 0; k < warp_lanes; ++k) to.lane[k] = value_of(variable, scope, first + k);
    return false;
}

}  // namespace

void choose_kernel(LaneStep& step, const KernelWanted& wanted) {
    const bool divides = wanted.kind == NodeKind::divide || wanted.kind == NodeKind::remainder;
    if (divides && wanted.form == OperandForm::scalar_right && step.scalar > 1 && wanted.a.low >= 0)
        return choose_division(step, wanted);
    step.kernel = kernel_for(wanted);
}

void choose_variable(LaneStep& step, Variable variable, const Scope& scope, Vectors vectors) {
    using Counter = VariablePart::Counter;
    const VariablePart part = part_of(variable, scope);
    const bool is_whole = part.divisor == 1 && !part.modulus;
    const bool is_middle = part.divisor != 1 && part.modulus;
    step.scalar = static_cast<I64>(variable);
    step.kernel = compiled_for<fill_any>(vectors);
    if (part.counter == Counter::thread && is_whole) step.kernel = compiled_for<fill_i>(vectors);
    if (part.counter != Counter::thread_in_block || is_middle) return;
    if (is_whole) {
        step.kernel = compiled_for<fill_tid>(vectors);
        return;
    }
    const U64 divisor = part.modulus.value_or(part.divisor);
    set_magic(step, divisor, 31);
    step.kernel = part.modulus ? compiled_for<fill_part_of_tid<true>>(vectors)
                               : compiled_for<fill_part_of_tid<false>>(vectors);
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
LaneKernel lookup_kernel(bool checked) { return checked ? look_up<true> : look_up<false>; }
LaneKernel select_kernel(Vectors vectors) { return compiled_for<select_lanes>(vectors); }
LaneKernel truth_kernel(Vectors vectors) {
    return compiled_for<plain<Truth01, OperandForm::scalar_right>>(vectors);
}
LaneKernel guard_kernel(bool where_zero, Vectors vectors) {
    return where_zero ? compiled_for<plain<GuardZero, OperandForm::registers>>(vectors)
                      : compiled_for<plain<GuardNonzero, OperandForm::registers>>(vectors);
}
LaneKernel and_kernel(Vectors vectors) {
    return compiled_for<plain<And, OperandForm::registers>>(vectors);
}
LaneKernel or_kernel(Vectors vectors) {
    return compiled_for<plain<Or, OperandForm::registers>>(vectors);
}

}  // namespace coalprof
