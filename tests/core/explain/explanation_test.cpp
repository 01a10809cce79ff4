#include "core/explain/explanation.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/explain/cases.h"
#include "core/explain/drawing.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using explain_cases::plan_of;

Machine new_machine() { return find_machine("h200"); }

TEST(Explanation, draws_instructions_at_the_same_places_once) {
    const Explanation rmw =
        explanation_of(plan_of("offset", 11, Op::rmw, ElementType::f32), new_machine());
    ASSERT_EQ(rmw.accesses.size(), 1u);
    EXPECT_EQ(rmw.accesses[0].instructions.size(), 2u);
    EXPECT_EQ(purpose_of(rmw.accesses[0]), Purpose::load_and_store);
    // a[i + 11] and b[i] differ; c[i] = a[2i] + b[2i] loads twice at the same places.
    EXPECT_EQ(explanation_of(plan_of("offset", 11, Op::copy, ElementType::f32), new_machine())
                  .accesses.size(),
              2u);
    const Explanation add =
        explanation_of(plan_of("stride", 2, Op::add, ElementType::f32), new_machine());
    ASSERT_EQ(add.accesses.size(), 2u);
    EXPECT_EQ(add.accesses[0].instructions.size(), 2u);
    EXPECT_EQ(add.accesses[0].instructions[1].array, "b");
    EXPECT_EQ(purpose_of(add.accesses[1]), Purpose::store);
}

TEST(Explanation, draws_the_first_whole_warp_unless_told_which) {
    // Blocks of 50 threads: 32 and 18 lanes. Warp 0 is whole, warp 1 is not.
    const Plan plan = plan_of("offset", 0, Op::load, ElementType::f32, 64 << 10, 50);
    EXPECT_EQ(explanation_of(plan, new_machine()).warp, 0u);
    const Explanation second = explanation_of(plan, new_machine(), 3);
    EXPECT_EQ(second.first_thread, 50u + 32);
    EXPECT_EQ(second.accesses[0].shape.active_lanes, 18u);
    // Rows of 96 bytes have 24 floats: no warp is whole, the first has as many lanes as any.
    const Plan rows = plan_of("row", 96, Op::load, ElementType::f32);
    EXPECT_EQ(explanation_of(rows, new_machine()).warp, 0u);
    EXPECT_EQ(explanation_of(rows, new_machine()).accesses[0].shape.active_lanes, 24u);
    // Rows of 40 floats: 32 lanes and 8, by turns.
    const Plan ragged = plan_of("row", 160, Op::load, ElementType::f32);
    EXPECT_EQ(explanation_of(ragged, new_machine(), 1).accesses[0].shape.active_lanes, 8u);
}

TEST(Explanation, counts_warps_as_blocks_are_cut) {
    Program program;
    program.block = 50;
    program.threads = 120;  // 32 + 18, 32 + 18, 20
    EXPECT_EQ(warp_count(program), 5u);
    EXPECT_EQ(warp_at(program, 3).first_thread, 82u);
    EXPECT_EQ(warp_at(program, 3).lanes, 18u);
    EXPECT_EQ(warp_at(program, 4).first_thread, 100u);
    EXPECT_EQ(warp_at(program, 4).lanes, 20u);
    EXPECT_THROW(warp_at(program, 5), UsageError);
    std::uint64_t lanes = 0;
    for (std::uint64_t i = 0; i < warp_count(program); ++i) lanes += warp_at(program, i).lanes;
    EXPECT_EQ(lanes, program.threads);
}

TEST(Explanation, refuses_a_warp_that_is_not_there_and_names_how_many_are) {
    const Plan plan = plan_of("offset", 0, Op::load, ElementType::f32);
    // 64 KiB of floats are 16384 threads, 512 warps.
    EXPECT_STREQ(usage_error_of([&] { explanation_of(plan, new_machine(), 512); }).what(),
                 "--warp 512: the launch has 512 warps, counted from 0");
}

TEST(Explanation, of_explicit_addresses_counts_the_true_ones_and_shows_them_from_the_first_line) {
    WarpAccess access;
    access.active_lanes = all_lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = 0x7f12'3456'7800 + 44 + 4 * lane;
    const Explanation explanation = explanation_of("mine", access, new_machine());
    const ExplainedAccess& only = explanation.accesses[0];
    EXPECT_EQ(only.origin_address, 0x7f12'3456'7800u);
    EXPECT_EQ(only.lines[0].address, 0u);
    EXPECT_EQ(only.shape.misaligned_bytes(), 12u);
    const std::string text = draw(explanation, {});
    EXPECT_NE(text.find("lane 0 0x7f123456782c"), std::string::npos) << text;
    EXPECT_EQ(text.find("launch"), std::string::npos);
}

// A user's formula: a[lane * lane] where the lane is even.
class EvenSquares : public CustomFormula {
 public:
    void evaluate(std::uint64_t first, std::uint32_t count,
                  std::uint64_t* elements) const override {
        for (std::uint32_t k = 0; k < count; ++k)
            elements[k] = (first + k) % 2 == 0 ? (first + k) % 32 * ((first + k) % 32) : idle_lane;
    }
    std::optional<Period> period() const override { return std::nullopt; }
    Functor functor(const std::string&) const override { return {}; }
    std::string text() const override { return "(i%32)*(i%32)"; }
};

TEST(Explanation, serves_a_users_formula_too) {
    Plan plan = plan_of("offset", 0, Op::load, ElementType::f32);
    plan.pattern = "formula";
    plan.program.instructions[0].formula = std::make_shared<const EvenSquares>();
    const std::string text = explain(plan, new_machine(), {});
    EXPECT_TRUE(text.starts_with("formula: (i%32)*(i%32)\n")) << text;
    EXPECT_NE(text.find("The 16 active lanes read 16 places with no fixed distance"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace coalprof
