// From a formula to a program: arrays, ops, checks before the launch, and the same counters as the
// built-in patterns.
#include "core/formula/formula.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/count/footprint.h"
#include "core/count/launch_sum.h"
#include "core/count/predict.h"
#include "core/machine/machine.h"
#include "core/sweep/patterns.h"
#include "core/text/error.h"
#include "core/text/range.h"
#include "core/text/refusal.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

struct Launch : FormulaLaunch {
    Launch() { shape.size_bytes = 1 << 20; }
    Launch& with_op(Op wanted) {
        op = wanted;
        return *this;
    }
    Launch& with_size(std::uint64_t bytes) {
        shape.size_bytes = bytes;
        return *this;
    }
};

Program program_of(const std::string& text, const FormulaLaunch& launch = Launch(),
                   const std::vector<std::string>& parameters = {}) {
    return make_formula_program(
        std::make_shared<const ParsedFormula>(parse_formula(text, parameters)), launch);
}

std::vector<std::uint64_t> elements_of(const Program& program, std::size_t instruction,
                                       std::uint64_t first) {
    std::vector<std::uint64_t> elements(warp_lanes);
    program.instructions[instruction].formula->evaluate(first, warp_lanes, elements.data());
    return elements;
}

TEST(FormulaProgram, sizes_each_array_by_its_highest_index) {
    // 2^20 bytes of f32 are 262144 threads: the highest index is 262143 * 3.
    const Program program = program_of("a[i*3]");
    ASSERT_EQ(program.arrays.size(), 1u);
    EXPECT_EQ(program.arrays[0].name, "a");
    EXPECT_EQ(program.arrays[0].elements, 262143u * 3 + 1);
    EXPECT_EQ(program.threads, 262144u);
    EXPECT_EQ(program.block, 256u);
    EXPECT_EQ(program.useful_bytes, 1u << 20);
    // Two accesses of one array: the larger counts.
    EXPECT_EQ(program_of("a[i]; a[lane]; b[0]").arrays[0].elements, 262144u);
    EXPECT_EQ(program_of("a[i]; a[lane]; b[0]").arrays[1].elements, 1u);
    // An index that goes down has its highest in the first thread.
    EXPECT_EQ(program_of("n - 1 - i").arrays[0].elements, 262144u);
}

TEST(FormulaProgram, makes_the_instructions_of_the_op) {
    const auto kinds = [](const Program& program) {
        std::string text;
        for (const Instruction& instruction : program.instructions)
            text += fmt::format("{} {};", name_of(instruction.kind),
                                program.arrays[instruction.array].name);
        return text;
    };
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::load))), "load a;");
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::store))), "store a;");
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::rmw))), "load a;store a;");
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::copy))), "load a;store b;");
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::add))), "load a;load b;store c;");
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::atomic))), "atomic a;");
    EXPECT_EQ(kinds(program_of("i*2", Launch().with_op(Op::reduce))), "reduce a;");
    EXPECT_EQ(kinds(program_of("load: x[i]; store: y[i]; x[lane]", Launch().with_op(Op::rmw))),
              "load x;store y;load x;store x;");
    // The contiguous store keeps off the name that the formula uses.
    EXPECT_EQ(kinds(program_of("b[i*2]", Launch().with_op(Op::copy))), "load b;store c;");
}

// As ptxas 13.0 compiles the same CUDA for sm_75, 80 and 90: RED and ATOMG behind VOTEU and a
// predicate, or alone.
TEST(FormulaProgram, sends_an_atomic_by_one_lane_where_no_part_of_its_index_is_of_the_thread) {
    const auto senders = [](const std::string& text) {
        Launch launch;
        launch.values = {7};
        const Program program = program_of(text, launch, {"k"});
        return access_of_warp(program, {}, program.instructions[0], 64, warp_lanes).active_lanes;
    };
    for (const char* const text : {"reduce.u32: a[0]", "atomic.s32: a[k]", "reduce.u64: a[bid]",
                                   "atomic.u64: a[(bid.x*7 + k) % 13]"})
        EXPECT_EQ(senders(text), 1u) << text;
    EXPECT_EQ(senders("reduce.u32: a[0] if lane > 4"), 1u << 5);
    EXPECT_EQ(senders("reduce.u32: a[0] if i < 0"), 0u);
    for (const char* const text :
         {"reduce.u32: a[i / 32]", "reduce.u32: a[warp]", "atomic.u32: a[lane / 32]",
          "reduce.u32: a[tid / 256]", "reduce.f32: a[0]", "atomic.f64: a[0]", "load.u32: a[0]",
          "store.u32: a[0]", "shared.reduce.u32: a[0]"})
        EXPECT_EQ(senders(text), all_lanes) << text;
}

TEST(FormulaProgram, switches_lanes_off_where_the_condition_does) {
    const Program program = program_of("a[i*2] if lane % 4 == 1", Launch().with_op(Op::copy));
    EXPECT_EQ(elements_of(program, 0, 64)[0], idle_lane);
    EXPECT_EQ(elements_of(program, 0, 64)[5], (64u + 5) * 2);
    // The contiguous store is the thread's own element, under the same condition.
    EXPECT_EQ(elements_of(program, 1, 64)[0], idle_lane);
    EXPECT_EQ(elements_of(program, 1, 64)[5], 64u + 5);
    // A quarter of the lanes, in two instructions.
    EXPECT_EQ(program.useful_bytes, 2u * (1 << 20) / 4);
    // The last thread that takes part is lane 29 of the last warp.
    EXPECT_EQ(program.arrays[1].elements, 262144u - 2);
}

TEST(FormulaProgram, gives_an_array_the_type_of_its_prefix) {
    const Program program = program_of("load.u64: table[i / 64]; load: a[i]");
    EXPECT_EQ(program.arrays[0].element_bytes, 8u);
    EXPECT_EQ(program.instructions[0].width_bytes, 8u);
    EXPECT_EQ(program.arrays[1].element_bytes, 4u);
}

// What an array is called says nothing of what it holds.
TEST(FormulaProgram, loads_elements_from_an_array_called_table) {
    for (const char* text : {"load: table[i]", "load.u64: table[i%64]", "load.u64: table_a[i]"}) {
        const Program program = program_of(text);
        EXPECT_FALSE(is_pointer_load(program, program.instructions[0])) << text;
    }
}

TEST(FormulaProgram, sees_blocks_and_grids_of_two_dimensions) {
    FormulaLaunch launch = Launch();
    launch.shape.block_shape = {16, 16};
    launch.shape.grid = {8, 4};
    const Program program =
        program_of("(bid.y*bdim.y + tid.y)*1000 + bid.x*bdim.x + tid.x", launch);
    // Thread 17 of block 9: block (1, 1), thread (1, 1) of 16 x 16.
    EXPECT_EQ(elements_of(program, 0, 9 * 256)[17], (16u + 1) * 1000 + 16 + 1);
}

TEST(FormulaProgram, sees_blocks_and_grids_of_three_dimensions) {
    FormulaLaunch launch = Launch();
    launch.shape.block = 64;
    launch.shape.block_shape = {4, 8, 2};
    launch.shape.grid = {3, 5, 7};
    const Program program = program_of(
        "(bid.z*100 + bid.y*10 + bid.x)*1000 + tid.z*100 + tid.y*10 + tid.x if gdim.z == 7 && "
        "bdim.y == 8",
        launch);
    EXPECT_EQ(program.threads, 3u * 5 * 7 * 64);
    // Block 37 = 2*15 + 2*3 + 1 is (1, 2, 2); thread 45 = 1*32 + 3*4 + 1 is (1, 3, 1). From lane 0
    // at thread 32: 45 is lane 13.
    EXPECT_EQ(elements_of(program, 0, 37 * 64 + 32)[13], 221u * 1000 + 131);
}

TEST(FormulaProgram, takes_one_row_for_a_block_of_which_that_was_said) {
    FormulaLaunch launch = Launch();
    launch.shape.block_shape = {256, 1};
    EXPECT_EQ(program_of("tid.y*32 + tid.x", launch).arrays[0].elements, 256u);
}

// CUDA's grid has a size of its own: what --size says must be the same.
TEST(FormulaProgram, takes_its_threads_from_the_grid) {
    FormulaLaunch launch = Launch();
    launch.shape.grid = {6, 7};
    EXPECT_EQ(program_of("bid.y*1000 + i", launch).threads, 42u * 256);
    EXPECT_EQ(settled_shape(launch.shape, ElementType::f64).size_bytes, 42u * 256 * 8);
    launch.shape.size_text = "1MiB";
    launch.shape.size_bytes = 1 << 20;
    const UsageError error = usage_error_of([&] { program_of("i", launch); });
    EXPECT_THAT(error.what(), HasSubstr("10752 elements"));  // 42 * 256
    EXPECT_THAT(error.what(), HasSubstr("262144"));          // 1 MiB of f32
    launch.shape.size_bytes = 42 * 256 * 4;
    EXPECT_NO_THROW(program_of("i", launch));
}

// ---- checked before anything is launched ----

struct Failing {
    const char* text;
    std::size_t caret;
    const char* sentence;
    const char* hint;
};
class FailingLaunch : public ::testing::TestWithParam<Failing> {};

TEST_P(FailingLaunch, names_the_first_thread_and_the_place) {
    const Failing& failing = GetParam();
    const UsageError error = usage_error_of([&] { program_of(failing.text); });
    EXPECT_EQ(error.caret(), failing.caret);
    EXPECT_THAT(error.what(), HasSubstr(failing.sentence));
    EXPECT_THAT(error.hint(), HasSubstr(failing.hint));
}

const Failing failing_launches[] = {
    {"a[blockIdx.y*1001 + i]", 2, "the grid has one dimension", "--grid 64x64"},
    {"row = bid.y; a[i + row]", 6, "the grid has one dimension", "--grid 64x64"},
    {"i % gdim.y", 4, "the grid has one dimension", "--grid 64x64"},
    {"a[threadIdx.y*32 + tid.x]", 2, "the block has one dimension", "--block 16x16"},
    {"i + tid.y", 4, "the block has one dimension", "256x1"},
    {"i*blockDim.y", 2, "the block has one dimension", "--block 16x16"},
    {"tid.z", 0, "'tid.z' is of a third one", "--block 8x8x4"},
    {"bid.y + tid.y + tid.z", 0, "the grid has one dimension", "--block 8x8x4 --grid 64x64"},
    {"i + gridDim.z", 4, "'gridDim.z' is of a third one", "--grid 8x8x8"},
    {"i - 1", 0, "the index 'i - 1' is negative (-1), first in thread 0 ",
     "off: i - 1 if i - 1 >= 0, or clamp: max(i - 1, 0)"},
    {"1000 - i", 0, "(-1), first in thread 1001 (block 3, tid 233), where i = 1001",
     "1000 - i if 1000 - i >= 0"},
    {"100000 - i / 2", 0, "(-1), first in thread 200002 ", "if 100000 - i / 2 >= 0"},
    {"i / lane", 2, "'i / lane' divides by zero, first in thread 0 ", "i / lane if lane != 0"},
    {"i / abs(lane - 7)", 2, "divides by zero, first in thread 7 ", "if abs(lane - 7) != 0"},
    {"5 + i % (bid - 2)", 6, "divides by zero, first in thread 512 (block 2, tid 0)",
     "if bid - 2 != 0"},
    {"i / 0", 2, "divides by zero", "the divisor is 0 in all threads"},
    {"b[i] = a[i % (lane & 1)] if i < 9 || lane", 11, "divides by zero",
     "off: b[i] = a[i % (lane & 1)] if (lane & 1) != 0 && (i < 9 || lane)"},
    {"5 >> tid", 2, "shifts by a count that is not 0 to 63, first in thread 64 ", "% 64"},
    {"(i + 1) << 62 >> 62", 8, "does not fit 64 signed bits, first in thread 1 ",
     "smaller numbers"},
    {"i*9000000000000000000/9000000000000000000", 1,
     "'i*9000000000000000000' does not fit 64 signed bits, first in thread 2 ", "if i < 1000"},
    // 2^63 / 35184372088832 (2^45) is 262144: thread 262144 would be the first, there is none; the
    // second factor makes it 131072.
    {"i * 70368744177664 >> 45", 2, "first in thread 131072 (block 512, tid 0)", "smaller"},
    {"abs(-9223372036854775807 - 1)", 0, "does not fit 64 signed bits, first in thread 0", "small"},
    {"hash(i, lane)", 0, "needs at least 1 bucket, first in thread 0", "starts at 1"},
    // 2^40 bytes are 2^38 elements of f32: 2^38 / 2^21 is thread 131072.
    {"i << 21", 0, "is out of range (274877906944), first in thread 131072", "274877906943"},
    {"load: b[lane]; store: a[i - 5]", 24, "is negative (-5), first in thread 0",
     "off: store: a[i - 5] if i - 5 >= 0,"},
    {"lane && i / (i - 33) > 1", 10, "divides by zero, first in thread 33 ", "> 1 if i - 33 != 0"},
    {"a[i] if i / (n - 1 - i)", 10, "divides by zero, first in thread 262143 ",
     "a[i] if n - 1 - i != 0 && i / (n - 1 - i)"},
    {"a[0 - i] if i > 5", 2, "is negative (-6), first in thread 6 ",
     "a[0 - i] if 0 - i >= 0 && i > 5,"},
};
INSTANTIATE_TEST_SUITE_P(One, FailingLaunch, ::testing::ValuesIn(failing_launches));

TEST(FormulaProgram, lets_pass_what_fails_only_where_it_is_not_evaluated) {
    EXPECT_NO_THROW(program_of("lane ? i / lane : 0"));
    EXPECT_NO_THROW(program_of("a[i / lane] if lane"));
    EXPECT_NO_THROW(program_of("i > 0 && 5 / i"));
    EXPECT_NO_THROW(program_of("a[i - 1] if i >= 1"));
    EXPECT_NO_THROW(program_of("max(i - 1, 0)"));
}

// 2^30 threads must not be walked: the check would take seconds, and these would take minutes.
TEST(FormulaProgram, checks_repeating_formulas_of_2_to_the_40_threads_by_their_periods) {
    Launch launch;
    launch.with_size(1ull << 40).type = ElementType::u8;
    EXPECT_EQ(program_of("i", launch).arrays[0].elements, 1ull << 40);
    EXPECT_EQ(program_of("(i % 1024)*1000 + i / 1024 % 1000", launch).arrays[0].elements,
              1023u * 1000 + 999 + 1);
    EXPECT_EQ(program_of("n - 1 - i if lane < 7", launch).arrays[0].elements, 1ull << 40);
    const UsageError error = usage_error_of([&] { program_of("1000000000000 - i", launch); });
    EXPECT_THAT(error.what(), HasSubstr("first in thread 1000000000001 "));
}

TEST(FormulaProgram, refuses_shapes_types_and_ops_that_do_not_fit) {
    const auto sentence_of = [](const std::string& text, const FormulaLaunch& launch) {
        return std::string(usage_error_of([&] { program_of(text, launch); }).what());
    };
    Launch launch;
    launch.shape.block = 0;
    EXPECT_THAT(sentence_of("i", launch), HasSubstr("1 to 1024 threads"));
    launch.shape.block = 1025;
    EXPECT_THAT(sentence_of("i", launch), HasSubstr("1 to 1024 threads"));
    launch.shape.block = 256;
    launch.shape.block_shape = {48, 5};
    EXPECT_THAT(sentence_of("i", launch), HasSubstr("240 threads, and not 256"));
    EXPECT_THAT(sentence_of("i", Launch().with_size(3)), HasSubstr("smaller than one f32"));
    EXPECT_THAT(sentence_of("i", Launch().with_size(~0ull)), HasSubstr("more than 2^48 threads"));
    launch = Launch();
    launch.shape.per_thread = 129;  // i + 1: three nodes; 16 nodes have 128 times 16
    EXPECT_EQ(sentence_of("i + 1", launch), "(accepted)");
    EXPECT_THAT(sentence_of("((((((((i^1)^2)^3)^4)^5)^6)^7) & 8)", launch),
                HasSubstr("up to 120 elements a thread"));
    launch = Launch();
    launch.type = ElementType::f32x4;
    EXPECT_THAT(sentence_of("atomic: a[i]", launch), HasSubstr("an atomic adds u32"));
    EXPECT_THAT(sentence_of("reduce: a[i]", launch), HasSubstr("not f32x4"));
    EXPECT_THAT(sentence_of("load.u64: a[i]; store: a[i]", Launch()),
                HasSubstr("elements of 4 bytes here and of 8 before"));
    EXPECT_THAT(sentence_of("i; i*2", Launch().with_op(Op::copy)), HasSubstr("--op copy"));
    EXPECT_THAT(sentence_of("i; load: i*2", Launch().with_op(Op::add)), HasSubstr("--op add"));
}

}  // namespace
}  // namespace coalprof
