// Advice holds what it promises: it is what the model says of the changed launch.
#include "core/explain/advice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/explain/cases.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

using explain_cases::plan_of;

constexpr std::uint64_t mib = 1 << 20;

LaunchAdvice advice_for(const std::string& pattern, std::uint64_t value, Op op,
                        std::uint64_t size_bytes, const char* machine = "h200") {
    return checked_advice(plan_of(pattern, value, op, ElementType::f32, size_bytes),
                          find_machine(machine));
}

// 2^20 floats, 33 apart, have a sector each, 2^20 in all; side by side 8 share one: 2^17.
TEST(Advice, says_what_the_launch_would_touch) {
    const LaunchAdvice advice = advice_for("stride", 33, Op::load, 4 * mib);
    ASSERT_FALSE(advice.list.empty());
    EXPECT_EQ(advice.list.front().what, "sectors");
    EXPECT_EQ(advice.list.front().before, 1u << 20);
    EXPECT_EQ(advice.list.front().after, 1u << 17);
    ASSERT_TRUE(advice.list.front().time);
    EXPECT_LT(advice.list.front().time->seconds.middle, advice.time->seconds.middle);
}

// 32,768 warps each way. Read down the columns of a tile of 16 floats each takes 8 passes; padded
// rows take 2 to store, swizzled ones 1 either way.
TEST(Advice, is_the_one_that_leaves_least) {
    Plan plan = plan_of("transpose", 1024, Op::copy, ElementType::f32, 4 * mib);
    plan.options.variant = "tile";
    plan.options.tile = 16;
    build_program(plan);
    const LaunchAdvice advice = checked_advice(plan, find_machine("h200"));
    ASSERT_FALSE(advice.list.empty());
    EXPECT_EQ(advice.list.front().before, (8u + 1) * 32'768);
    EXPECT_EQ(advice.list.front().after, 2u * 32'768);
}

// 2^24 aligned floats cannot touch less; 65,536 blocks take 38 us to start at 1.73e9 a second, and
// a quarter of that with four elements a thread.
TEST(Advice, of_a_perfect_access_may_still_save_time) {
    const LaunchAdvice advice = advice_for("shared-stride", 1, Op::load, 64 * mib);
    ASSERT_TRUE(advice.time);
    EXPECT_EQ(advice.time->limit, Limit::blocks);
    ASSERT_EQ(advice.list.size(), 1u);
    EXPECT_EQ(advice.list.front().what, "");
    EXPECT_LT(advice.list.front().time->seconds.middle, 0.5 * advice.time->seconds.middle);
}

TEST(Advice, is_not_given_for_less_than_its_own_interval) {
    unsigned number = 0;
    explain_cases::each_plan([&](const Plan& plan) {
        if (plan.value % 7 != 1 || ++number % fewer_cases != 0) return;
        SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value));
        const LaunchAdvice advice = checked_advice(plan, find_machine("h200"));
        for (const Advice& one : advice.list) {
            EXPECT_FALSE(one.change.empty());
            if (!one.what.empty()) {
                EXPECT_LT(one.after, one.before);
            }
            if (!one.what.empty()) continue;
            ASSERT_TRUE(one.time);
            EXPECT_LT(one.time->seconds.high, advice.time->seconds.middle);
        }
    });
}

// Rates of 2.0 are not known: traffic is told, and no time but what device memory allows.
TEST(Advice, of_machines_without_rates_tells_traffic) {
    const LaunchAdvice advice = advice_for("stride", 33, Op::load, 4 * mib, "c2050");
    ASSERT_FALSE(advice.list.empty());
    EXPECT_FALSE(advice.list.front().what.empty());
}

FormulaSweep formula_of(std::string text, std::uint64_t size_bytes, std::uint32_t block = 256) {
    FormulaSweep sweep{
        .name = {}, .text = std::move(text), .place = {}, .parameters = {}, .settings = {}};
    sweep.settings.launch.shape.size_bytes = size_bytes;
    sweep.settings.launch.shape.block = block;
    return sweep;
}

// 2^26 single bytes in blocks of 32 are 2^21 blocks, 1.2 ms of starting them; more threads a block
// or more elements a thread are fewer blocks.
TEST(Advice, of_a_formula_tells_how_to_launch_it) {
    FormulaSweep sweep = formula_of("i", 64 * mib, 32);
    sweep.settings.launch.type = ElementType::u8;
    const LaunchAdvice advice = checked_advice(sweep, find_machine("h200"));
    ASSERT_TRUE(advice.time);
    EXPECT_EQ(advice.time->limit, Limit::blocks);
    ASSERT_EQ(advice.list.size(), 1u);
    EXPECT_EQ(advice.list.front().what, "");
    EXPECT_LT(advice.list.front().time->seconds.high, advice.time->seconds.middle);
}

// What it touches follows from its block: with another one it is another launch.
TEST(Advice, of_a_formula_keeps_blocks_that_decide_what_is_touched) {
    for (const char* text :
         {"threadIdx.x", "bid*bdim + tid", "i + warp - warp", "shared.load: s[lane]"}) {
        const LaunchAdvice advice =
            checked_advice(formula_of(text, 64 * mib, 32), find_machine("h200"));
        for (const Advice& one : advice.list) EXPECT_EQ(one.change, "--dlcm cg") << text;
    }
}

TEST(Advice, of_a_formula_is_none_where_nothing_gains) {
    const LaunchAdvice advice = checked_advice(formula_of("i", 64 << 10), find_machine("h200"));
    EXPECT_TRUE(advice.time);
    EXPECT_TRUE(advice.list.empty());
}

}  // namespace
}  // namespace coalprof
