#include "core/formula/lane_program.h"
#include "core/formula/operators.h"

namespace coalprof {
namespace {

using namespace operators;

// to[k] = value(a[k], b[k], c[k])
template <auto value>
bool each_lane(const LaneStep& step, const LaneState& state) {
    const auto [a, b, c] = step.operands;
    const LaneValues* const in = state.registers;
    LaneValues& to = state.registers[step.to];
    for (std::size_t k = 0; k < warp_lanes; ++k) to[k] = value(in[a][k], in[b][k], in[c][k]);
    return false;
}

template <typename Operator>
I64 value_in_lane(I64 a, I64 b, I64 c) {
    if constexpr (requires { Operator::lane(a, b, c); })
        return Operator::lane(a, b, c);
    else if constexpr (requires { Operator::lane(a, b); })
        return Operator::lane(a, b);
    else
        return I64{Operator::of(a, b)};
}

template <typename Operator>
constexpr bool can_fail = can_overflow<Operator> || requires {
    Operator::fault(I64{}, I64{});
};

// A word whose sign says that `value` is none.
template <typename Operator>
I64 failure_in_lane(I64 a, I64 b, I64 value) {
    if constexpr (can_overflow<Operator>)
        return Operator::failed(a, b, value);
    else
        return mask_of(Operator::fault(a, b) != Fault::none);
}

template <typename Operator>
bool checked(const LaneStep& step, const LaneState& state) {
    each_lane<value_in_lane<Operator>>(step, state);
    const auto [a, b, c] = step.operands;
    const LaneValues* const in = state.registers;
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k)
        failures |=
            failure_in_lane<Operator>(in[a][k], in[b][k], in[step.to][k]) & in[step.guard][k];
    return failures < 0;
}

// Entries beyond a table are 0, and fail where that is checked.
template <bool is_checked>
bool look_up(const LaneStep& step, const LaneState& state) {
    const LookupTable& table = state.scope->tables[static_cast<std::size_t>(step.constant)];
    const LaneValues& index = state.registers[step.operands[0]];
    LaneValues& to = state.registers[step.to];
    I64 failures = 0;
    for (std::size_t k = 0; k < warp_lanes; ++k) {
        const bool is_held = table.holds(index[k]);
        to[k] = is_held ? (*table.values)[static_cast<std::size_t>(index[k])] : 0;
        if constexpr (is_checked) failures |= mask_of(!is_held) & state.registers[step.guard][k];
    }
    return failures < 0;
}

bool fill_constant(const LaneStep& step, const LaneState& state) {
    state.registers[step.to].fill(step.constant);
    return false;
}

// Blocks may end within the 32 threads.
bool fill_variable(const LaneStep& step, const LaneState& state) {
    const Scope& scope = *state.scope;
    const VariablePart part = part_of(static_cast<Variable>(step.constant), scope);
    U64 thread = state.first_thread;
    U64 in_block = thread % scope.block;
    U64 block = thread / scope.block;
    for (I64& value : state.registers[step.to]) {
        value = part.value_at(thread, in_block, block);
        ++thread;
        if (++in_block == scope.block) in_block = 0, ++block;
    }
    return false;
}

}  // namespace

LaneKernel strict_kernel(NodeKind kind, bool is_checked) {
    return visit_operator(kind, [&]<typename Operator>(Operator) -> LaneKernel {
        if constexpr (can_fail<Operator>)
            if (is_checked) return checked<Operator>;
        return each_lane<value_in_lane<Operator>>;
    });
}

LaneKernel constant_kernel() { return fill_constant; }
LaneKernel variable_kernel() { return fill_variable; }
LaneKernel lookup_kernel(bool is_checked) { return is_checked ? look_up<true> : look_up<false>; }
LaneKernel select_kernel() {
    return each_lane<[](I64 a, I64 b, I64 c) { return a != 0 ? b : c; }>;
}
LaneKernel truth_kernel() {
    return each_lane<[](I64 a, I64, I64) { return I64{a != 0}; }>;
}
LaneKernel guard_kernel(bool where_zero) {
    return where_zero ? each_lane<[](I64 a, I64 b, I64) { return b == 0 ? a : 0; }>
                      : each_lane<[](I64 a, I64 b, I64) { return b != 0 ? a : 0; }>;
}
LaneKernel and_kernel() {
    return each_lane<[](I64 a, I64 b, I64) { return I64{a && b}; }>;
}
LaneKernel or_kernel() {
    return each_lane<[](I64 a, I64 b, I64) { return I64{a || b}; }>;
}

}  // namespace coalprof
