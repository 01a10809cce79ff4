// Formulas of shared memory: what a block's own arrays may be, and what conflicts they have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/count/obstacles.h"
#include "core/count/predict.h"
#include "core/formula/formula.h"
#include "core/text/error.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan plan_of(const std::string& text, const Dimensions& block = {32, 32}) {
    Plan plan;
    plan.pattern = "formula";
    plan.shape.block = static_cast<std::uint32_t>(block.count());
    plan.shape.block_shape = block;
    plan.shape.size_bytes = 1 << 20;
    plan.program =
        make_formula_program(std::make_shared<const ParsedFormula>(parse_formula(text, {})),
                             {.op = plan.op, .type = plan.type, .shape = plan.shape, .values = {}});
    return plan;
}

Readings predicted(const std::string& text, const Dimensions& block = {32, 32},
                   const char* machine = "h200") {
    return Predictor(find_machine(machine)).predict_launch(plan_of(text, block), {});
}

double degree(const Readings& readings, Counter counter) {
    return is_number(readings[counter]) ? number_in(readings[counter]) : -1;
}

// A warp of a block of 32 x 32 is a row of it: column by column each lane asks for word 32 * lane,
// all of them in one bank; a row of 33 words moves each lane one bank on, and so does the exclusive
// or of column and row.
TEST(SharedFormula, of_a_transposed_tile_is_32_way_unless_padded_or_swizzled) {
    const auto of_load = [](const char* index) {
        return degree(predicted(std::string("shared.load: tile[") + index + "]"),
                      Counter::shared_load_conflict_degree);
    };
    EXPECT_EQ(of_load("tid.y*32 + tid.x"), 1);
    EXPECT_EQ(of_load("tid.x*32 + tid.y"), 32);
    EXPECT_EQ(of_load("tid.x*33 + tid.y"), 1);
    EXPECT_EQ(of_load("tid.x*32 + (tid.x ^ tid.y)"), 1);
    EXPECT_EQ(of_load("tid.x*34 + tid.y"), 2);
}

TEST(SharedFormula, counts_loads_and_stores_apart) {
    const Readings readings =
        predicted("shared.store: tile[tid.y*32 + tid.x]; shared.load: tile[tid.x*32 + tid.y]");
    EXPECT_EQ(degree(readings, Counter::shared_store_conflict_degree), 1);
    EXPECT_EQ(degree(readings, Counter::shared_load_conflict_degree), 32);
    // 2^18 threads are 8192 warps.
    EXPECT_TRUE(readings[Counter::shared_load_wavefronts] == Reading{std::uint64_t{8192 * 32}});
}

TEST(SharedFormula, stands_beside_global_memory) {
    const Plan plan = plan_of("load: a[i]; shared.store: tile[tid]");
    EXPECT_EQ(space_of(plan.program, 0), Space::global);
    EXPECT_EQ(space_of(plan.program, 1), Space::shared);
    EXPECT_EQ(plan.program.arrays[1].elements, 1024u);
    EXPECT_EQ(plan.program.useful_bytes, 1u << 20);  // what global memory moves
    EXPECT_EQ(plan_of("shared.store: tile[tid]").program.useful_bytes, 1u << 20);
}

// The requests of atomics are known, and why their passes are not depends on the machine.
TEST(SharedFormula, has_atomics_whose_requests_are_counted) {
    const Readings readings = predicted("shared.add.u32: bins[hash(i, 256)]");
    EXPECT_TRUE(readings[Counter::shared_atomic_requests] == Reading{std::uint64_t{8192}});
    EXPECT_TRUE(std::holds_alternative<Unavailable>(readings[Counter::shared_atomic_wavefronts]));
    EXPECT_TRUE(
        std::holds_alternative<Unavailable>(readings[Counter::shared_atomic_conflict_degree]));
    const Readings old = predicted("shared.atomic.s32: bins[hash(i, 256)]", {256}, "k40");
    EXPECT_FALSE(old[Counter::shared_atomic_wavefronts] ==
                 readings[Counter::shared_atomic_wavefronts]);
    const Plan plan = plan_of("shared.reduce.u32: bins[tid]", {256});
    EXPECT_THAT(obstacles(*find_machine("1.1").rules, plan), Not(IsEmpty()));
    EXPECT_THAT(obstacles(*find_machine("1.2").rules, plan), IsEmpty());
}

struct Refused {
    const char* text;
    std::size_t caret;
    const char* fact;
};

TEST(SharedFormula, is_refused_where_no_block_could_hold_it) {
    for (const auto& [text, caret, fact] :
         {Refused{"load: a[i]; shared.load: a[tid]", 12, "global memory before"},
          {"shared.store: t[tid]; store: t[i]", 22, "shared memory before"},
          // 2^18 threads of f32 are 1 MiB; a block has 227 KiB = 232448 bytes.
          {"load: a[i]; shared.load: tile[i]", 12, "1048576 bytes"},
          {"shared.load: tile[i]", 0, "232448"},
          {"shared.add.f32: bins[tid]", 0, "f32"},
          {"shared.atomic.u64: bins[tid]", 0, "u64"},
          {"shared.laod: tile[tid]", 7, "unknown instruction 'laod:'"},
          {"shared.load.f23: tile[tid]", 12, "unknown type 'f23'"},
          {"shared: tile[tid]", 0, "unknown instruction 'shared:'"}}) {
        const UsageError error = usage_error_of([&] { plan_of(text); });
        EXPECT_EQ(error.caret(), caret) << text;
        EXPECT_THAT(error.what(), HasSubstr(fact)) << text;
    }
    EXPECT_NO_THROW(plan_of("shared.load: tile[tid*56]"));  // 1023 * 56 + 1 words: 229 156 bytes
}

// 48 KiB for every block; more where the machine has it: 96 KiB on 7.0, none on 6.x.
TEST(SharedFormula, of_more_than_48_kib_is_an_obstacle_where_the_machine_has_no_more) {
    const Plan plan = plan_of("shared.load: tile[tid*20]");  // 80 KiB
    EXPECT_THAT(obstacles(*find_machine("6.1").rules, plan), Not(IsEmpty()));
    EXPECT_THAT(obstacles(*find_machine("7.0").rules, plan), IsEmpty());
    EXPECT_THAT(obstacles(*find_machine("9.0").rules, plan), IsEmpty());
}

}  // namespace
}  // namespace coalprof
