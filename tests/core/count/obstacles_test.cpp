// What old machines could not run, by the feature tables of the CUDA C Programming Guide (4.2,
// appendix F, and 13): blocks of 512 threads at most before 2.0; 16 KiB of shared memory before
// 2.0; doubles from 1.3; atomics of 4 bytes from 1.1, of 8 from 1.2, on f32 from 2.0, on f64 from
// 6.0; managed memory from 3.0.
#include "core/count/obstacles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/formula/formula.h"
#include "core/machine/machine.h"
#include "core/pattern/built.h"

namespace coalprof {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan offset(Op op, ElementType type, std::uint32_t block = 256) {
    return built({.pattern = "offset", .op = op, .type = type, .shape = {.block = block}});
}

std::vector<std::string> on(std::string_view machine, const Plan& plan) {
    return obstacles(*find_machine(machine).rules, plan);
}

TEST(Obstacles, are_none_of_what_every_machine_can) {
    for (const Rules& rules : all_rules())
        EXPECT_THAT(obstacles(rules, offset(Op::rmw, ElementType::f32)), IsEmpty());
}

TEST(Obstacles, are_blocks_that_are_too_large) {
    const Plan plan = offset(Op::load, ElementType::f32, 1024);
    EXPECT_THAT(on("1.3", plan), ElementsAre(AllOf(HasSubstr("1024 threads"), HasSubstr("512"),
                                                   HasSubstr("--block"))));
    EXPECT_THAT(on("2.0", plan), IsEmpty());
}

TEST(Obstacles, are_doubles_before_1_3) {
    const Plan plan = offset(Op::copy, ElementType::f64);
    EXPECT_THAT(on("1.2", plan), ElementsAre(HasSubstr("no f64")));
    EXPECT_THAT(on("1.3", plan), IsEmpty());
    // Eight bytes that are no double are as good as any.
    EXPECT_THAT(on("1.0", offset(Op::copy, ElementType::u64)), IsEmpty());
}

TEST(Obstacles, are_atomics_that_came_later) {
    const auto atomic = [](ElementType type) { return offset(Op::atomic, type); };
    EXPECT_THAT(on("1.0", atomic(ElementType::u32)), ElementsAre(HasSubstr("no atomics")));
    EXPECT_THAT(on("1.1", atomic(ElementType::u32)), IsEmpty());
    EXPECT_THAT(on("1.1", atomic(ElementType::u64)), ElementsAre(HasSubstr("4 bytes at most")));
    EXPECT_THAT(on("1.2", atomic(ElementType::u64)), IsEmpty());
    EXPECT_THAT(on("1.3", atomic(ElementType::f32)), ElementsAre(HasSubstr("f32")));
    EXPECT_THAT(on("2.0", atomic(ElementType::f32)), IsEmpty());
    EXPECT_THAT(on("5.2", offset(Op::reduce, ElementType::f64)), ElementsAre(HasSubstr("f64")));
    EXPECT_THAT(on("6.0", offset(Op::reduce, ElementType::f64)), IsEmpty());
}

// What counts is the type of each array, not --type.
TEST(Obstacles, of_a_formula_follow_the_types_that_it_names) {
    const auto formula = [](const char* text, ElementType type) {
        FormulaLaunch launch;
        launch.type = type;
        launch.shape.size_bytes = 1 << 12;
        Plan plan;
        plan.pattern = "formula";
        plan.type = type;
        plan.program = make_formula_program(
            std::make_shared<const ParsedFormula>(parse_formula(text, {})), launch);
        return plan;
    };
    EXPECT_THAT(on("5.2", formula("load: a[i]; atomic.f64: b[i]", ElementType::f32)),
                ElementsAre(HasSubstr("f64")));
    EXPECT_THAT(on("1.3", formula("load.u32: a[i]; atomic.u32: b[i]", ElementType::f32)),
                IsEmpty());
    EXPECT_THAT(on("1.0", formula("load.f64: a[i]; atomic.u32: b[i]", ElementType::u32)),
                ElementsAre(HasSubstr("no f64"), HasSubstr("no atomics")));
}

TEST(Obstacles, are_grids_larger_than_the_machine_takes) {
    const auto with_grid = [](const Dimensions& grid) {
        Plan plan = offset(Op::load, ElementType::f32);
        plan.shape.grid = grid;
        return plan;
    };
    EXPECT_THAT(on("3.0", with_grid({2147483647, 65535, 65535})), IsEmpty());
    EXPECT_THAT(on("2.1", with_grid({65536})), ElementsAre(HasSubstr("65536 blocks along x")));
    EXPECT_THAT(on("2.1", with_grid({65535, 65535, 65535})), IsEmpty());
    EXPECT_THAT(on("1.3", with_grid({64, 64, 2})), ElementsAre(HasSubstr("the most is 1")));
    EXPECT_THAT(on("1.3", with_grid({65535, 65535})), IsEmpty());
}

TEST(Obstacles, are_managed_arrays_before_3_0) {
    Plan plan = offset(Op::load, ElementType::f32);
    plan.allocation = Allocation::managed;
    EXPECT_THAT(on("2.1", plan), ElementsAre(HasSubstr("managed")));
    EXPECT_THAT(on("3.0", plan), IsEmpty());
}

// A padded tile of 64 columns: 64 x 65 words of 4 bytes without the last padding are 16,636 bytes,
// 252 more than 16 KiB.
TEST(Obstacles, are_tiles_larger_than_shared_memory) {
    const Plan plan = built({.pattern = "transpose",
                             .value = 1024,
                             .op = Op::copy,
                             .options = {.tile = 64, .variant = "padded"}});
    EXPECT_THAT(on("1.3", plan), ElementsAre(HasSubstr("16636 bytes of shared memory")));
    EXPECT_THAT(on("2.0", plan), IsEmpty());
}

}  // namespace
}  // namespace coalprof
