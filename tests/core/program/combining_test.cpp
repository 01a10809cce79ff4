// Which atomics of a warp one lane sends, as ptxas 13.0 compiles them: a predicate on ATOMG or RED
// behind VOTEU, UFLO or REDUX in the machine code for sm_75, sm_80, sm_90 and sm_120 (nvcc -cubin).
#include <gtest/gtest.h>

#include "core/program/sample_kernels.h"

namespace coalprof {
namespace {

// The lanes of one warp that send, on a GPU of this generation.
std::uint64_t sent(const std::string& code, std::uint32_t cc_major = 9, std::uint32_t block = 32) {
    Code kernel = code_of(
        ptx_of("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.y;\n"
               "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmul.wide.u32 %rd3, %r1, 4;\n"
               "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nmul.wide.u32 %rd6, %r2, 4;\n"
               "add.s64 %rd7, %rd1, %rd6;\n" +
                   code + "\nret;\n",
               2));
    BoundLaunch bound = bind_arguments(kernel, {});
    bound.launch.block = {block, 1, 1};
    bound.launch.cc_major = cc_major;
    const Executed all = executed(kernel, bound.launch, bound.memory);
    for (std::size_t i = 0; i < kernel.sites.size(); ++i)
        if (!is_load_or_store(kernel.sites[i].kind)) return all[i].lanes;
    return 0;
}

TEST(Atomics, of_a_warp_are_one_where_all_lanes_have_one_address) {
    EXPECT_EQ(sent("red.global.add.u32 [%rd1], 1;"), 1u);  // a parameter
    EXPECT_EQ(sent("red.global.add.u32 [%rd7], 1;"), 1u);  // a + blockIdx.x
    EXPECT_EQ(sent("atom.global.add.u32 %r9, [%rd1], 1;\nst.global.u32 [%rd4], %r9;"), 1u);
    EXPECT_EQ(sent("atom.add.u64 %rd9, [%rd1], 1;\nst.global.u64 [%rd4], %rd9;"), 1u);
    EXPECT_EQ(
        sent("ld.global.u32 %r4, [%rd2];\nmul.wide.u32 %rd8, %r4, 4;\nadd.s64 %rd9, %rd1, %rd8;"
             "\nred.global.add.u32 [%rd9], 1;"),
        1u);  // a[b[0]]
    EXPECT_EQ(sent("red.global.add.u32 [%rd1], 1;", 9, 20), 1u);
    EXPECT_EQ(sent("red.global.add.u32 [%rd1], 1;", 7), 1u);
    EXPECT_EQ(sent("red.global.add.u32 [%rd1], 1;", 6), 32u);  // before Volta
}

TEST(Atomics, of_lanes_whose_addresses_may_differ_are_each_sent) {
    EXPECT_EQ(sent("red.global.add.u32 [%rd4], 1;"), 32u);
    // a[threadIdx.x / 32], a[threadIdx.y], a[b[threadIdx.x]]: the same, which ptxas does not prove.
    for (const char* const index :
         {"shr.u32 %r4, %r1, 5;", "mov.u32 %r4, %r3;", "ld.global.u32 %r4, [%rd5];"})
        EXPECT_EQ(
            sent(std::string(index) + "\nmul.wide.u32 %rd8, %r4, 4;\nadd.s64 %rd9, %rd1, %rd8;\n"
                                      "red.global.add.u32 [%rd9], 1;"),
            32u)
            << index;
}

// b[threadIdx.x] == 0 for all lanes here; i = 7 where it is not.
TEST(Atomics, behind_branches_have_the_address_that_each_lane_brings) {
    const std::string add =
        "mul.wide.u32 %rd8, %r5, 4;\nadd.s64 %rd9, %rd1, %rd8;\n"
        "red.global.add.u32 [%rd9], 1;";
    const std::string test = "ld.global.u32 %r4, [%rd5];\nsetp.ne.u32 %p1, %r4, 0;\n";
    // if (b[t]) i = 7; else i = 3; atomicAdd(a + i, 1)
    EXPECT_EQ(sent(test + "mov.u32 %r5, 3;\n@!%p1 bra ON;\nmov.u32 %r5, 7;\nON:\n" + add), 32u);
    // if (b[t]) return; for (i = 0; i < 1; ++i) atomicAdd(a + i, 1)
    EXPECT_EQ(sent(test + "@%p1 bra END;\nmov.u32 %r5, 0;\nON:\n" + add +
                   "\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 1;\n@%p2 bra ON;\nEND:\n"),
              1u);
    // for (i = 0; i < b[t] + 1; ++i) atomicAdd(a + i, 1): lanes leave at different times.
    EXPECT_EQ(sent(test + "mov.u32 %r5, 0;\nON:\n" + add +
                   "\nadd.u32 %r5, %r5, 1;\nsetp.le.u32 %p2, %r5, %r4;\n@%p2 bra ON;\n"),
              32u);
}

TEST(Atomics, are_one_only_of_operations_that_ptxas_combines) {
    const auto operation = [](const char* what, std::uint32_t cc_major = 9,
                              std::uint32_t block = 32) { return sent(what, cc_major, block); };
    // Numbers that differ: one REDUX for all that are not used; before it, SHFL of whole warps.
    for (const char* const one :
         {"red.global.add.u32 [%rd1], %r1;", "red.global.min.s32 [%rd1], %r1;",
          "red.global.max.u32 [%rd1], %r1;", "red.global.and.b32 [%rd1], %r1;",
          "red.global.or.b32 [%rd1], %r1;", "red.global.xor.b32 [%rd1], %r1;"}) {
        EXPECT_EQ(operation(one), 1u) << one;
        EXPECT_EQ(operation(one, 9, 20), 1u) << one;
        EXPECT_EQ(operation(one, 7), 1u) << one;
        EXPECT_EQ(operation(one, 7, 20), 20u) << one;
    }
    const char* const used = "atom.global.add.u32 %r9, [%rd1], %r1;\nst.global.u32 [%rd4], %r9;";
    EXPECT_EQ(operation(used), 1u);
    EXPECT_EQ(operation(used, 9, 20), 20u);
    for (const char* const each :
         {"red.global.add.f32 [%rd1], 0f3F800000;",
          "red.global.add.f64 [%rd1], 0d3FF0000000000000;", "red.global.add.u64 [%rd1], %rd3;",
          "red.global.max.u64 [%rd1], %rd3;", "red.global.inc.u32 [%rd1], 100;",
          "red.global.dec.u32 [%rd1], 100;", "atom.global.exch.b32 %r9, [%rd1], %r1;",
          "atom.global.cas.b32 %r9, [%rd1], 0, %r1;",
          "atom.global.max.s32 %r9, [%rd1], %r1;\nst.global.u32 [%rd4], %r9;",
          "atom.global.or.b32 %r9, [%rd1], %r1;\nst.global.u32 [%rd4], %r9;"})
        EXPECT_EQ(operation(each), 32u) << each;
}

}  // namespace
}  // namespace coalprof
