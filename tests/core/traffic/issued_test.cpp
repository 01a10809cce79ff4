// How many instructions warps issue, and which of them compute one index.
#include "core/traffic/issued.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "core/traffic/launches.h"

namespace coalprof {
namespace {

// The quotient and the remainder of one division are one; powers of two are shifts and masks.
TEST(Work, has_the_operators_and_the_divisions_of_a_formula) {
    const auto of = [](const std::string& text) {
        const Plan plan = formula_plan(text, ElementType::f32, {.size_bytes = mib, .block = 256});
        const auto& formula = *std::get<std::shared_ptr<const CustomFormula>>(
            plan.program.instructions.front().formula);
        ExpressionsSeen seen;
        const Computed computed = formula.computed(seen);
        return std::pair(computed.operators, computed.divisions);
    };
    EXPECT_EQ(of("i/7*9 + i%7"), std::pair(4u, 1u));
    EXPECT_EQ(of("i/7 + i%5"), std::pair(3u, 2u));
    EXPECT_EQ(of("i/8 + lane%4 + i%n"), std::pair(5u, 0u));
    EXPECT_EQ(of("a[i*3] if i < n - 1"), std::pair(3u, 0u));
    EXPECT_EQ(of("hash(i, 99)"), std::pair(0u, 0u));
    // Once where it stands twice; the last constant is part of the address.
    EXPECT_EQ(of("(i/7)*(i/7) + 5"), std::pair(2u, 1u));
}

// Points of a stencil share the index that they are around.
TEST(Work, of_an_expression_is_done_once_for_all_instructions) {
    const auto of = [](const std::string& text) {
        return index_instructions(
            formula_plan(text, ElementType::f32, {.size_bytes = mib, .block = 256}).program);
    };
    EXPECT_EQ(of("load: a[i/7*9]; load: a[i/7*9 + 1]; store: b[i/7*9]"), of("load: a[i/7*9]"));
    EXPECT_EQ(of("load: a[i/7*9]; load: a[i/7*9 + n]"), of("load: a[i/7*9 + n]"));
}

// Of the code that NVRTC 13.0 makes for 9.0, of which up to 7 at the end fill a line and a jump is
// never taken (docs/measurements/instructions.txt): 32 and 64 to 80 for an element and eight of a
// plain store, 48 to 56 and 80 to 104 of a copy by ones and fours of up to 8 bytes, 288 of eight
// elements whose lanes are reordered, 80 to 88 of a row's.
TEST(Work, has_the_instructions_that_warps_issue) {
    const auto issued = [](const std::string& pattern, std::uint64_t value, Op op,
                           std::uint32_t per_thread) {
        return issued_of_warp(plan_of(pattern, value, op, mib, per_thread).program, per_thread);
    };
    EXPECT_NEAR(issued("offset", 1, Op::store, 1), 28, 4);
    EXPECT_NEAR(issued("offset", 1, Op::store, 8), 68, 8);
    EXPECT_NEAR(issued("offset", 1, Op::copy, 1), 44, 4);
    EXPECT_NEAR(issued("offset", 1, Op::copy, 4), 84, 16);
    EXPECT_NEAR(issued("permute", 31, Op::store, 8), 284, 16);
    EXPECT_NEAR(issued("row", 1000, Op::load, 1), 80, 8);
    // The formula of an updated element, and of the arrays of a sum, is computed once.
    EXPECT_EQ(issued("column", 4096, Op::rmw, 1) - issued("column", 4096, Op::load, 1),
              issued("offset", 1, Op::rmw, 1) - issued("offset", 1, Op::load, 1));
}

// By numbers, not by the object that holds them: what is copied is the same.
TEST(Formulas, are_the_same_where_they_come_to_the_same_elements_by_the_same_way) {
    const auto first = [](const Plan& plan) { return plan.program.instructions.front().formula; };
    const auto typed = [&](const std::string& text) {
        return first(formula_plan(text, ElementType::f32, {.size_bytes = mib, .block = 256}));
    };
    EXPECT_TRUE(is_same(first(plan_of("stride", 3, Op::load, mib)),
                        first(plan_of("stride", 3, Op::store, 4 * mib))));
    EXPECT_FALSE(is_same(first(plan_of("stride", 3, Op::load, mib)),
                         first(plan_of("stride", 5, Op::load, mib))));
    EXPECT_FALSE(is_same(first(plan_of("stride", 1, Op::load, mib)),
                         first(plan_of("offset", 0, Op::load, mib))));
    EXPECT_TRUE(is_same(typed("hash(i, 99)"), typed("hash(i, 99)")));
    EXPECT_FALSE(is_same(typed("hash(i, 99)"), typed("hash(i, 98)")));
}

}  // namespace
}  // namespace coalprof
