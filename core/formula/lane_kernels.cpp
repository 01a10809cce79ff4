#include <bit>

#include "core/formula/lane_program.h"
#include "core/formula/operators.h"

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
inline I64 value_in_lane(I64 a, I64 b) {
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
inline I64 failure_in_lane(I64 a, I64 b, I64 value) {
    if constexpr (can_overflow<Operator>) {
        return Operator::failed(a, b, value);
    } else {
        return mask_of(Operator::fault(a, b) != Fault::none);
    }
}

template <typename Operator, OperandForm form>
bool plain(const LaneStep& step, const LaneState& state) {
    const auto a = left_operand<form>(step, state);
    const auto b = right_operand<form>(step, state);
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = value_in_lane<Operator>(a[k], b[k]);
    return false;
}

template <typename Operator, OperandForm form>
bool checked(const LaneStep& step, const LaneState& state) {
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
    return of_form(wanted.form, [&]<OperandForm form>() { return plain<Operator, form>; });
}
template <typename Operator>
LaneKernel kernel_of(const KernelWanted& wanted) {
    if constexpr (can_fail<Operator>)
        if (wanted.checked)
            return of_form(wanted.form,
                           [&]<OperandForm form>() { return checked<Operator, form>; });
    return plain_of<Operator>(wanted);
}

// ---- division by one number, as a multiplication ----
//
// For 0 <= x < 2^N and d >= 1, with s = ceil(log2 d) and m = ceil(2^(N+s) / d):
// x / d == (x * m) >> (N + s), because m*d exceeds 2^(N+s) by less than d <= 2^s (Granlund and
// Montgomery 1994, theorem 4.2). m fits N + 1 bits.

template <bool remainder>
void divide_halves(const LaneStep& step, const I64* a, I64* __restrict to) {  // N = 31
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const U64 x = bits(a[k]) & 0xFFFF'FFFFu;
        const U64 quotient = x * step.magic >> step.shift;
        to[k] = number(remainder ? x - (quotient & 0xFFFF'FFFFu) * bits(step.scalar) : quotient);
    }
}
template <bool remainder>
bool divide_narrow(const LaneStep& step, const LaneState& state) {
    divide_halves<remainder>(step, state.registers[step.a].lane.data(),
                             state.registers[step.to].lane.data());
    return false;
}

template <bool remainder>
bool divide_wide(const LaneStep& step, const LaneState& state) {  // N = 63
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
        step.kernel = remainder ? divide_narrow<true> : divide_narrow<false>;
    } else {
        set_magic(step, divisor, 63);
        step.kernel = remainder ? divide_wide<true> : divide_wide<false>;
    }
}

LaneKernel kernel_for(const KernelWanted& wanted) {
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
bool hash_constants(const LaneStep& step, const LaneState& state) {
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
bool hash_power_of_two(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    const Scatter scatter{bits(step.scalar), bits(step.scalar2)};
    for (std::size_t k = 0; k < warp_lanes; ++k)
        to[k] = number(scatter.word(bits(a[k])) & (scatter.elements - 1));
    return false;
}

bool hash_plain(const LaneStep& step, const LaneState& state) {
    const I64* a = state.registers[step.a].lane.data();
    const I64* b = state.registers[step.b].lane.data();
    const I64* c = state.registers[step.c].lane.data();
    I64* __restrict to = state.registers[step.to].lane.data();
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = Hash::of(a[k], b[k] < 1 ? 1 : b[k], c[k]);
    return false;
}
bool hash_checked(const LaneStep& step, const LaneState& state) {
    const I64* b = state.registers[step.b].lane.data();
    const I64* guard = state.registers[step.guard].lane.data();
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k)
        failures |= failure_in_lane<Hash>(0, b[k], 0) & guard[k];
    hash_plain(step, state);
    return failures < 0;
}

bool select_lanes(const LaneStep& step, const LaneState& state) {
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

bool fill_scalar(const LaneStep& step, const LaneState& state) {
    state.registers[step.to].lane.fill(step.scalar);
    return false;
}

// to[k] = start + k
inline void count_from(U64 start, I64* __restrict to) {
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = number(start + k);
}

// to[k] = the thread's number in its block; blocks may end within the 32 threads.
inline void count_in_block(const Scope& scope, U64 first, I64* __restrict to) {
    U64 in_block = first % scope.block;
    if (in_block + warp_lanes <= scope.block) return count_from(in_block, to);
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        to[k] = number(in_block);
        if (++in_block == scope.block) in_block = 0;
    }
}

bool fill_i(const LaneStep& step, const LaneState& state) {
    count_from(state.first_thread, state.registers[step.to].lane.data());
    return false;
}

bool fill_tid(const LaneStep& step, const LaneState& state) {
    count_in_block(*state.scope, state.first_thread, state.registers[step.to].lane.data());
    return false;
}

// A thread's quotient or remainder in its block: lane, warp, tid.x, tid.y.
template <bool remainder>
bool fill_part_of_tid(const LaneStep& step, const LaneState& state) {
    LaneValues in_block;
    count_in_block(*state.scope, state.first_thread, in_block.lane.data());
    divide_halves<remainder>(step, in_block.lane.data(), state.registers[step.to].lane.data());
    return false;
}

// Any variable; fast for those that are the same in a whole block.
bool fill_any(const LaneStep& step, const LaneState& state) {
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

void choose_variable(LaneStep& step, Variable variable, const Scope& scope) {
    using Counter = VariablePart::Counter;
    const VariablePart part = part_of(variable, scope);
    const bool is_whole = part.divisor == 1 && !part.modulus;
    const bool is_middle = part.divisor != 1 && part.modulus;
    step.scalar = static_cast<I64>(variable);
    step.kernel = fill_any;
    if (part.counter == Counter::thread && is_whole) step.kernel = fill_i;
    if (part.counter != Counter::thread_in_block || is_middle) return;
    if (is_whole) {
        step.kernel = fill_tid;
        return;
    }
    const U64 divisor = part.modulus.value_or(part.divisor);
    set_magic(step, divisor, 31);
    step.kernel = part.modulus ? fill_part_of_tid<true> : fill_part_of_tid<false>;
}

void choose_hash(LaneStep& step) {
    const U64 buckets = bits(step.scalar);
    if (std::has_single_bit(buckets)) {
        step.kernel = hash_power_of_two;
        return;
    }
    const auto digits = static_cast<std::uint32_t>(std::bit_width(buckets - 1));
    const U128 power = U128{1} << digits;
    step.magic = static_cast<U64>(((power - buckets) << 64) / buckets) + 1;
    step.shift = digits - 1;
    step.kernel = hash_constants;
}

LaneKernel scalar_kernel() { return fill_scalar; }
LaneKernel hash_kernel(bool checked) { return checked ? hash_checked : hash_plain; }
LaneKernel lookup_kernel(bool checked) { return checked ? look_up<true> : look_up<false>; }
LaneKernel select_kernel() { return select_lanes; }
LaneKernel truth_kernel() { return plain<Truth01, OperandForm::scalar_right>; }
LaneKernel guard_kernel(bool where_zero) {
    return where_zero ? plain<GuardZero, OperandForm::registers>
                      : plain<GuardNonzero, OperandForm::registers>;
}
LaneKernel and_kernel() { return plain<And, OperandForm::registers>; }
LaneKernel or_kernel() { return plain<Or, OperandForm::registers>; }

}  // namespace coalprof
