// Commands that ask for the same accesses say the same time: a pattern, a formula and PTX.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/kernel/kernel_points.h"
#include "core/program/sample_kernels.h"
#include "core/sim/launches.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

constexpr const char* gpu = "h200";

// Thread i's element i * p1 of p0. What is loaded alone is used by a store that never happens.
std::string body_of(Op op) {
    const std::string place =
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
        "mad.lo.s32 %r4, %r1, %r2, %r3;\nld.param.u64 %rd1, [p0];\nld.param.u64 %rd4, [p1];\n"
        "mul.wide.u32 %rd2, %r4, 4;\nmul.lo.s64 %rd2, %rd2, %rd4;\nadd.s64 %rd3, %rd1, %rd2;\n";
    const std::string load = "ld.global.f32 %r30, [%rd3];\n";
    switch (op) {
        case Op::load:
            return place + load +
                   "setp.ne.u32 %p1, %r30, 1;\n@%p1 bra END;\nst.global.u32 [%rd1], %r30;\n"
                   "END:\nret;\n";
        case Op::store: return place + "st.global.u32 [%rd3], 1;\nret;\n";
        default: return place + load + "add.u32 %r6, %r30, 1;\nst.global.u32 [%rd3], %r6;\nret;\n";
    }
}

double kernel_seconds(Op op, std::uint64_t stride, std::uint64_t bytes) {
    Code code = code_of(ptx_of(body_of(op), 2));
    const std::uint64_t elements = bytes / 4;
    BoundLaunch bound = bind_arguments(
        code, {fmt::format("0=u32[{}]", elements * stride), fmt::format("1={}", stride)});
    bound.launch.grid = {static_cast<std::uint32_t>(elements / 256), 1, 1};
    bound.launch.block = {256, 1, 1};
    const KernelResult result =
        predict_kernel(code, bound.launch, bound.memory, find_machine(gpu), {});
    return number_in(result.points.front().predicted[Counter::duration_seconds]);
}

double pattern_seconds(const std::string& pattern, std::uint64_t value, Op op,
                       std::uint64_t bytes) {
    return estimated(plan_of(pattern, value, op, bytes), gpu).seconds();
}
double formula_seconds(const std::string& text, Op op, std::uint64_t bytes) {
    return estimated(formula_plan(text, ElementType::f32, {.size_bytes = bytes, .block = 256}, op),
                     gpu)
        .seconds();
}

// The launch of a kernel is timed by Nsight Compute, that of a pattern between two events, which
// see the host's part of its start as well.
double more_between_events() {
    const SimRates sim = rates_of(find_machine(gpu))->sim;
    return sim.launch_seconds + sim.flush_seconds - sim.start_seconds -
           sim.first_block_latency / sim.clock_hertz;
}

TEST(OneClock, gives_a_pattern_a_formula_and_ptx_the_same_time) {
    for (const std::uint64_t bytes : {mebibyte, 64 * mebibyte, 1024 * mebibyte}) {
        if (fewer_cases > 1 && bytes > mebibyte) continue;
        for (const Op op : {Op::load, Op::store, Op::rmw})
            for (const std::uint64_t stride : {1u, 8u, 32u}) {
                const double one = pattern_seconds("stride", stride, op, bytes);
                const auto expect = [&](double other, double most = 0.1) {
                    EXPECT_NEAR(other / one, 1, most)
                        << bytes << " " << name_of(op) << " stride " << stride;
                };
                expect(formula_seconds(fmt::format("i*{}", stride), op, bytes));
                expect(kernel_seconds(op, stride, bytes) + more_between_events());
                expect(pattern_seconds("aos", 4 * stride, op, bytes));
                if (stride > 1) continue;
                expect(pattern_seconds("offset", 0, op, bytes));
                // Each element divides by the number of columns.
                expect(pattern_seconds("row", 1024, op, bytes), 0.15);
            }
    }
}

}  // namespace
}  // namespace coalprof
