// Events of warps whose accesses are known.
#include "core/sim/block_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/program/sample_kernels.h"

namespace coalprof {
namespace {

// All lanes on one word. An H100 counted the passes of single warps; those of reals depend on how
// often lanes try again.
TEST(BlockTraces, have_the_passes_of_atomics_that_an_h100_counted) {
    const Code code =
        code_of(ptx_of(".shared .align 4 .b8 s[4];\n"
                       "mov.u32 %r1, %tid.x; mov.u32 %r2, s;\n"
                       "red.shared.add.u32 [%r2], 1;\n"
                       "red.shared.add.u32 [%r2], %r1;\n"
                       "atom.shared.cas.b32 %r3, [%r2], %r1, 7;\n"
                       "red.shared.add.f32 [%r2], 0f3F800000;\n"
                       "ret;",
                       0));
    KernelLaunch launch;
    launch.block[0] = 32;
    const BlockTraces traces = trace_blocks(code, launch, {}, find_machine("h100"), {0});
    std::vector<std::uint32_t> passes;
    for (const TraceEvent& event : traces.blocks.front().front().events)
        if (event.unit == TraceUnit::shared) passes.push_back(event.passes.data);
    EXPECT_EQ(passes, (std::vector<std::uint32_t>{1, 32, 64, 64}));
}

// A store that no lane makes: the load after it may be from its place, so it issues when the
// store's guard is known, as the guarded instruction that compilers make of the branch.
TEST(BlockTraces, wait_for_the_guard_of_a_store_that_is_skipped) {
    const auto events_of = [](const std::string& skipped) {
        Code code =
            code_of(ptx_of("ld.param.u64 %rd1, [p0]; ld.global.u32 %r1, [%rd1];\n"
                           "setp.ne.u32 %p1, %r1, 7; @%p1 bra NEXT;\n" +
                           skipped +
                           "NEXT: ld.global.u32 %r2, [%rd1+512];\n"
                           "st.global.u32 [%rd1+1024], %r2; ret;"));
        BoundLaunch bound = bind_arguments(code, {});
        bound.launch.block[0] = 32;
        return trace_blocks(code, bound.launch, bound.memory, find_machine("h100"), {0})
            .blocks[0][0]
            .events;
    };
    const auto first_three = [&](const std::string& skipped) {
        std::vector<std::pair<TraceUnit, std::uint32_t>> units;
        for (const TraceEvent& one : events_of(skipped))
            if (units.size() < 3) units.emplace_back(one.unit, one.waits_for);
        return units;
    };
    EXPECT_EQ(first_three("st.global.u32 [%rd1+256], %r1;\n"),
              (std::vector{std::pair(TraceUnit::load, 0u), std::pair(TraceUnit::none, 1u),
                           std::pair(TraceUnit::load, 0u)}));
    EXPECT_EQ(first_three("add.u32 %r3, %r1, 1;\n"),
              (std::vector{std::pair(TraceUnit::load, 0u), std::pair(TraceUnit::load, 0u),
                           std::pair(TraceUnit::store, 2u)}));
}

// The order in which a warp issues its loads and stores of a round, by their first lines: `a` is
// line 0 of the first array, `b` of the second.
std::string order_of(const std::string& body) {
    Code code =
        code_of(ptx_of("ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];\n" + body + " ret;", 2));
    BoundLaunch bound = bind_arguments(code, {});
    bound.launch.block[0] = 1;
    const BlockTraces traces =
        trace_blocks(code, bound.launch, bound.memory, find_machine("h100"), {0});
    std::string order;
    const std::uint64_t first = traces.lines.empty() ? 0 : traces.lines[0].line;
    for (const TraceEvent& one : traces.blocks[0][0].events)
        if (one.unit == TraceUnit::load || one.unit == TraceUnit::store)
            order += std::string(one.unit == TraceUnit::load ? "L" : "S") +
                     (traces.lines[one.first_line].line == first ? "a " : "b ");
    return order;
}

// As cuobjdump shows the machine code that ptxas makes (docs/measurements/h200/hoisted.txt).
TEST(BlockTraces, have_loads_before_stores_that_are_elsewhere_as_ptxas_moves_them) {
    const auto a = [](const std::string& op, int offset) {
        return op == "ld" ? fmt::format("ld.global.u32 %r1, [%rd1+{}]; ", offset)
                          : fmt::format("st.global.u32 [%rd1+{}], %r3; ", offset);
    };
    const auto b = [](int offset) {
        return fmt::format("ld.global.u32 %r2, [%rd2+{}]; add.u32 %r3, %r1, %r2; ", offset);
    };
    const std::string add = "add.u32 %r3, %r1, 1; ";
    // In place: all loads, then all stores.
    EXPECT_EQ(order_of(a("ld", 0) + add + a("st", 0) + a("ld", 4) + add + a("st", 4)),
              "La La Sa Sa ");
    // The next round's load of the array that is stored to comes before the store; that of another
    // array may be at its place.
    EXPECT_EQ(order_of(a("ld", 0) + b(0) + a("st", 0) + a("ld", 4) + b(4) + a("st", 4) +
                       a("ld", 8) + b(8) + a("st", 8)),
              "La Lb La Sa Lb La Sa Lb Sa ");
    // Its own place, and a store to an unknown one: none moves.
    EXPECT_EQ(order_of(a("ld", 0) + add + a("st", 0) + a("ld", 0) + add + a("st", 0)),
              "La Sa La Sa ");
    EXPECT_EQ(order_of(b(0) + a("st", 0) + b(4) + a("st", 4)), "La Sb La Sb ");
    // A base that moves by a constant stays known, one that is read anew does not.
    EXPECT_EQ(order_of(a("ld", 0) + add + a("st", 0) + "add.u64 %rd1, %rd1, 4; " + a("ld", 0) +
                       add + a("st", 0)),
              "La La Sa Sa ");
    EXPECT_EQ(order_of(a("ld", 0) + add + a("st", 0) + "add.u64 %rd1, %rd1, %rd2; " +
                       "sub.u64 %rd1, %rd1, %rd2; " + a("ld", 4) + add + a("st", 4)),
              "La Sa La Sa ");
}

// A loop of one block and eight rounds: four rounds' loads are issued together where it counts by
// a constant, each round's where it counts by a register.
TEST(BlockTraces, join_rounds_of_loops_that_ptxas_unrolls) {
    const auto loop = [](const std::string& step) {
        return order_of(
            "mov.u32 %r4, 0; mov.u32 %r5, 1;\n"
            "LOOP: ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;\n"
            "add.u64 %rd1, %rd1, 4; add.u32 %r4, %r4, " +
            step + "; setp.lt.u32 %p1, %r4, 8; @%p1 bra LOOP;");
    };
    EXPECT_EQ(loop("1"), "La La La La Sa Sa Sa Sa La La La La Sa Sa Sa Sa ");
    EXPECT_EQ(loop("%r5"), "La Sa La Sa La Sa La Sa La Sa La Sa La Sa La Sa ");
}

// Four blocks of a warp have room for 15,040 events each. All but the third load 10,000 times,
// three events a round: the load, the loop's begin and its end.
TEST(BlockTraces, say_what_share_is_kept_of_blocks_that_work) {
    const Code code =
        code_of(ptx_of(".shared .align 4 .b8 s[4];\n"
                       "mov.u32 %r1, %ctaid.x; mov.u32 %r2, s; mov.u32 %r3, 0; mov.u32 %r5, 1;\n"
                       "setp.eq.u32 %p1, %r1, 2; @%p1 bra DONE;\n"
                       "LOOP: ld.shared.u32 %r4, [%r2];\n"
                       "add.u32 %r3, %r3, %r5; setp.lt.u32 %p2, %r3, 10000; @%p2 bra LOOP;\n"
                       "DONE: ret;",
                       0));
    KernelLaunch launch;
    launch.block[0] = 32;
    launch.grid[0] = 4;
    const BlockTraces traces = trace_blocks(code, launch, {}, find_machine("h100"), {0, 1, 2, 3});
    EXPECT_NEAR(traces.kept_share, 0.5013, 0.001);
    const BlockTraces whole =
        trace_blocks(code, launch, {}, find_machine("h100"), {0, 1, 2, 3}, {}, without_limit);
    EXPECT_EQ(whole.kept_share, 1);
}

// Two loops of 1,000 rounds, one after the other, and a store. With a tenth of the rounds both
// loops have about a tenth, in parts, and the store is there.
TEST(BlockTraces, come_to_what_follows_long_loops_if_only_a_share_is_kept) {
    const auto loop = [](const std::string& name) {
        return "mov.u32 %r3, 0;\n" + name +
               ": ld.global.u32 %r4, [%rd1+64]; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 1000; "
               "@%p2 bra " +
               name + ";\n";
    };
    Code code = code_of(ptx_of("ld.param.u64 %rd1, [p0];\n" + loop("FIRST") + loop("SECOND") +
                               "st.global.u32 [%rd1], %r4; ret;"));
    BoundLaunch bound = bind_arguments(code, {});
    bound.launch.block[0] = 32;
    const BlockTraces traces =
        trace_blocks(code, bound.launch, bound.memory, find_machine("h100"), {0}, {}, 0.1);
    std::vector<std::uint32_t> loads(code.sites.size()), parts(code.sites.size());
    for (const TraceEvent& one : traces.blocks[0][0].events) {
        if (one.unit != TraceUnit::load && one.unit != TraceUnit::store) continue;
        ++loads[one.site];
        parts[one.site] = one.part;
    }
    EXPECT_NEAR(loads[0], 100, 50);
    EXPECT_NEAR(loads[1], 100, 50);
    EXPECT_EQ(loads[2], 1u);
    EXPECT_GT(parts[1], parts[0]);
    EXPECT_NEAR(traces.kept_share, 0.1, 0.05);
}

}  // namespace
}  // namespace coalprof
