// What the kernels of shared, constant and local memory do, read from machine code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/text/error.h"
#include "kernels/compose.h"
#include "kernels/nvrtc_here.h"
#include "kernels/plan_launch.h"
#include "kernels/plans.h"
#include "kernels/ptx_count.h"

namespace coalprof {
namespace {

Compiler& near_compiler() {
    static Compiler compiler(ready(nvrtc_here()), 90);
    return compiler;
}

std::shared_ptr<const Compiled> compiled(const Plan& plan) {
    return near_compiler().compile({.source = compose_access(plan, shape_of(plan))});
}

std::string near_case_name(const Plan& plan) {
    return fmt::format("{} {} {} x{}", plan.pattern, name_of(plan.op), name_of(plan.type),
                       plan.shape.per_thread);
}

// What the plan's program names, all lanes of a thread's elements together.
NearSassCount near_named_by(const Plan& plan) {
    NearSassCount count;
    for (const Instruction& one : plan.program.instructions) {
        const std::uint64_t each = plan.shape.per_thread;
        const bool is_load = one.kind == AccessKind::load;
        if (one.space == Space::shared)
            (is_load ? count.shared_loads : count.shared_stores)[one.width_bytes] += each;
        if (one.space == Space::local)
            (is_load ? count.local_loads : count.local_stores)[one.width_bytes] += each;
        // No LDC moves 16 bytes: two of 8 do.
        if (one.space == Space::constant)
            count.constant_loads[std::min(one.width_bytes, 8u)] +=
                one.width_bytes == 16 ? 2 * each : each;
        count.barriers += one.after_barrier ? 1 : 0;
    }
    return count;
}

void expect_equal(const NearSassCount& found, const NearSassCount& expected) {
    EXPECT_EQ(found.shared_loads, expected.shared_loads);
    EXPECT_EQ(found.shared_stores, expected.shared_stores);
    EXPECT_EQ(found.local_loads, expected.local_loads);
    EXPECT_EQ(found.local_stores, expected.local_stores);
    EXPECT_EQ(found.constant_loads, expected.constant_loads);
    EXPECT_EQ(found.barriers, expected.barriers);
}

// Every pattern with every op that it takes; types and elements per thread take turns.
TEST(NearKernel, does_exactly_the_instructions_of_its_program) {
    COALPROF_NEEDS_NVRTC();
    constexpr std::array types{ElementType::f32,   ElementType::u8,  ElementType::f64,
                               ElementType::f32x4, ElementType::u16, ElementType::u64};
    std::size_t turn = 0;
    for (const PatternInfo& pattern : near_patterns())
        for (const Op op : {Op::load, Op::store, Op::rmw})
            for (std::size_t k = 0; k < 3; ++k) {
                if (pattern.name == "constant" && op != Op::load) continue;
                const Plan plan =
                    plan_of(std::string(pattern.name), usual_value(pattern), op,
                            types[(turn + 2 * k) % types.size()], turn % 2 == 0 ? 1 : 4);
                ++turn;
                SCOPED_TRACE(near_case_name(plan));
                const auto code = compiled(plan);
                const std::string_view kernel = kernels_in(code->code).at(access_kernel);
                expect_equal(count_near_in_sass(kernel), near_named_by(plan));
                // Beside them nothing but the report of a wrong value, which is jumped over.
                const SassCount global = count_in_sass(kernel);
                EXPECT_EQ(global.loads, 0u);
                EXPECT_EQ(global.predicated_stores, 0u);
                EXPECT_EQ(global.stores, op == Op::store ? 0u : 1u);
            }
    EXPECT_GT(turn, 40u);
}

TEST(NearKernel, moves_an_element_of_any_width_with_one_instruction) {
    COALPROF_NEEDS_NVRTC();
    for (const char* pattern : {"shared-stride", "constant", "local"})
        for (const std::string_view name : element_type_list())
            for (const std::uint32_t per_thread : {1u, 4u}) {
                const Op op = pattern == std::string("constant") ? Op::load : Op::rmw;
                if (bytes_of(*find_element_type(name)) > 16)
                    continue;  // of compute capability 10.0
                const Plan plan = plan_of(pattern, 2, op, *find_element_type(name), per_thread);
                SCOPED_TRACE(near_case_name(plan));
                const auto code = compiled(plan);
                expect_equal(count_near_in_sass(kernels_in(code->code).at(access_kernel)),
                             near_named_by(plan));
            }
}

// LDC of a table is told from LDC of a parameter by its bank; between the jump and where it leads
// there is no other one, so that a launch that jumps loads the same parameters.
TEST(NearKernel, jumps_over_its_constants_and_nothing_else_of_constant_memory) {
    COALPROF_NEEDS_NVRTC();
    for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::f32x4}) {
        const Plan plan = plan_of("constant", 4, Op::load, type);
        SCOPED_TRACE(near_case_name(plan));
        const auto code = compiled(plan);
        const auto sass = sass_of(kernels_in(code->code).at(access_kernel));
        const auto is_table = [](const SassInstruction& one) {
            return one.is_constant_load() && one.constant_bank() != 0;
        };
        const auto first = std::find_if(sass.begin(), sass.end(), is_table);
        ASSERT_NE(first, sass.end());
        // sm_90: a branch says how many words of four bytes to go from the next instruction; back
        // is negative.
        const auto leads_on = [](const SassInstruction& one) {
            return one.is_branch() && one.low >> 32 == 0;
        };
        auto jump = first;
        while (jump != sass.begin() && !leads_on(*jump)) --jump;
        ASSERT_TRUE(leads_on(*jump));
        const auto skipped = static_cast<std::ptrdiff_t>((jump->low >> 16 & 0xFF) * 4 / 16);
        std::ptrdiff_t tables = 0;
        for (auto one = jump + 1; one != jump + 1 + skipped; ++one) {
            tables += is_table(*one);
            EXPECT_TRUE(is_table(*one) || !one->is_constant_load());
        }
        EXPECT_EQ(tables, std::count_if(sass.begin(), sass.end(), is_table));
    }
}

TEST(TransposeKernel, goes_through_the_tile_with_one_barrier) {
    COALPROF_NEEDS_NVRTC();
    for (const char* variant : {"tile", "padded", "swizzled"})
        for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::f32x4}) {
            const Plan plan = tiled_transpose(variant, 96, type, 1 << 18);
            SCOPED_TRACE(near_case_name(plan));
            const auto code = compiled(plan);
            const std::string_view kernel = kernels_in(code->code).at(access_kernel);
            expect_equal(count_near_in_sass(kernel), near_named_by(plan));
            const SassCount global = count_in_sass(kernel);
            EXPECT_EQ(global.loads, 4u);
            EXPECT_EQ(global.stores, 4u);
            EXPECT_EQ(global.predicated_stores, 0u);
            EXPECT_EQ(global.generic_or_local, 0u);
            // All of the tile is stored before the block meets, and loaded after.
            bool met = false;
            for (const SassInstruction& one : sass_of(kernel)) {
                met = met || one.operation() == 0xB1D;
                const bool stores = one.operation() == 0x388 || one.operation() == 0x988;
                EXPECT_FALSE(stores && met);
                EXPECT_FALSE(one.operation() == 0x984 && !met);
            }
        }
}

TEST(TransposeKernel, is_made_for_every_block_that_divides_a_tile) {
    COALPROF_NEEDS_NVRTC();
    for (const std::uint32_t block : {32u, 128u, 1024u}) {
        const Plan plan = tiled_transpose("padded", 64, ElementType::f32, 1 << 16, block);
        const auto code = compiled(plan);
        const SassCount global = count_in_sass(kernels_in(code->code).at(access_kernel));
        EXPECT_EQ(global.loads, 1024 / block);
        EXPECT_EQ(global.generic_or_local, 0u) << "registers were spilled";
    }
    for (const std::uint32_t block : {16u, 64u, 256u}) {
        const Plan plan = tiled_transpose("padded", 48, ElementType::f32, 1 << 16, block, 16);
        const SassCount global = count_in_sass(kernels_in(compiled(plan)->code).at(access_kernel));
        EXPECT_EQ(global.loads, 256 / block);
        EXPECT_EQ(global.stores, 256 / block);
        EXPECT_EQ(global.generic_or_local, 0u) << "registers were spilled";
    }
}

// Formulas of shared memory, alone and beside global memory: their own instructions, however many
// elements a thread has; with a condition, too.
TEST(NearKernel, of_a_formula_does_exactly_the_instructions_that_it_names) {
    COALPROF_NEEDS_NVRTC();
    for (const char* text :
         {"shared.load: tile[tid*33 % 1024]",
          "shared.store: tile[tid ^ 3]; shared.load: tile[tid*32 % 1000] if lane < 20",
          "load: a[i*3]; shared.store: tile[tid]; shared.load.u8: bytes[tid*5]; store: b[i]",
          "shared.load.f64x2: wide[tid % 32 * 3]; shared.store.f16: half[tid]"})
        for (const std::uint32_t per_thread : {1u, 4u}) {
            SCOPED_TRACE(fmt::format("{} x{}", text, per_thread));
            const Plan plan = formula_plan(text, {64, 4}, {}, ElementType::f32, per_thread);
            const auto code = compiled(plan);
            expect_equal(count_near_in_sass(kernels_in(code->code).at(access_kernel)),
                         near_named_by(plan));
            EXPECT_NO_THROW(
                near_compiler().compile({.source = compose_near_check(plan, shape_of(plan))}));
        }
}

TEST(NearKernel, of_atomics_on_shared_memory_compiles_with_its_check) {
    COALPROF_NEEDS_NVRTC();
    for (const char* text : {"shared.atomic.u32: bins[hash(i, 256)]",
                             "load.u8: a[i]; shared.add.s32: bins[hash(i, 256)]",
                             "shared.reduce.u32: bins[tid]; reduce.u32: all[tid]"}) {
        const Plan plan = formula_plan(text);
        EXPECT_FALSE(compiled(plan)->code.empty()) << text;
        EXPECT_NO_THROW(
            near_compiler().compile({.source = compose_near_check(plan, shape_of(plan))}))
            << text;
    }
}

// The checking kernels compile for every type, with the measured instructions among their own.
TEST(NearCheck, is_made_for_every_pattern_of_shared_and_local_memory) {
    COALPROF_NEEDS_NVRTC();
    for (const PatternInfo& pattern : near_patterns()) {
        if (pattern.name == "constant") continue;
        for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::f64x2}) {
            // 65540 bytes leave threads over: the last block jumps over its work.
            const Plan plan = plan_of(std::string(pattern.name), usual_value(pattern), Op::rmw,
                                      type, 4, type == ElementType::f64x2 ? 65552 : 65540);
            SCOPED_TRACE(near_case_name(plan));
            const auto code =
                near_compiler().compile({.source = compose_near_check(plan, shape_of(plan))});
            const NearSassCount near =
                count_near_in_sass(kernels_in(code->code).at(near_check_kernel));
            const auto& loads = near.shared_loads.empty() ? near.local_loads : near.shared_loads;
            EXPECT_GE(loads.at(bytes_of(type)), 4u);
        }
    }
}

}  // namespace
}  // namespace coalprof
