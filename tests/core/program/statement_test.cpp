#include "core/program/statement.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

TEST(MemoryInstruction, of_an_asynchronous_copy_is_its_read_with_the_bytes_it_names) {
    const auto eight = memory_instruction("cp.async.ca.shared.global [%r1], [%rd4 + 8], 8");
    ASSERT_TRUE(eight);
    EXPECT_EQ(eight->kind, AccessKind::load);
    EXPECT_EQ(eight->state, PtxState::global);
    EXPECT_EQ(eight->width_bytes, 8u);
    EXPECT_EQ(eight->base, "%rd4");
    EXPECT_EQ(eight->offset, "8");
    EXPECT_EQ(memory_instruction("cp.async.ca.shared.global [%r1], [%rd4], 0x4")->width_bytes, 4u);
    EXPECT_EQ(memory_instruction("cp.async.ca.shared.global.L2::128B [%r1], [%rd4], 0x10, %r2")
                  ->width_bytes,
              16u);
    EXPECT_EQ(memory_instruction("cp.async.cg.shared.global [%r1], [%rd4], %r9")->width_bytes, 16u);
}

TEST(MemoryInstruction, is_none_where_nothing_is_counted) {
    for (const char* statement :
         {"", "@%p1", "ret", "add.s32 %r1, %r2, %r3", "cp.async.commit_group",
          "cp.async.ca.shared.global [%r1], [%rd4]", "cp.async.ca.shared.global [%r1], [], 4",
          "cp.async.bulk.shared::cluster.global [%r1], [%rd4], 64, [%r2]",
          "st.async.shared::cluster.u32 [%r1], %r2, [%r3]", "ld.param.u64 %rd1, [p]",
          "ld.global.v8.f64 {%fd1}, [%rd1]", "ld.global.f32 %f1, []", "ld.global [%rd1]"})
        EXPECT_FALSE(memory_instruction(statement)) << statement;
}

TEST(MemoryInstruction, may_be_as_wide_as_32_bytes) {
    EXPECT_EQ(memory_instruction("ld.global.v8.f32 {%f1}, [%rd1]")->width_bytes, 32u);
    EXPECT_EQ(memory_instruction("st.global.v4.b64 [%rd1], {%rd2}")->width_bytes, 32u);
}

TEST(MemoryInstruction, of_matrices_takes_a_row_from_each_of_the_lowest_lanes) {
    const auto two = memory_instruction(
        "@%p1 ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%r3+16]");
    ASSERT_TRUE(two);
    EXPECT_EQ(two->state, PtxState::shared);
    EXPECT_EQ(two->lanes, 16u);
    EXPECT_EQ(two->width_bytes, 16u);
    EXPECT_EQ(two->offset, "16");
    const auto store = memory_instruction("stmatrix.sync.aligned.m8n8.x4.b16 [%rd1], {%r1}");
    EXPECT_EQ(store->kind, AccessKind::store);
    EXPECT_EQ(store->state, PtxState::generic);
    EXPECT_FALSE(
        memory_instruction("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1}, [%r3]"));
}

TEST(MemoryInstruction, tells_where_an_atomic_puts_what_was_there) {
    EXPECT_EQ(memory_instruction("@!%p3 atom.global.add.u32 %r2, [%rd3], 1")->result, "%r2");
    EXPECT_EQ(memory_instruction("@!%p3 atom.global.add.u32 %r2, [%rd3], 1")->guard, "!%p3");
    EXPECT_EQ(memory_instruction("atom.global.add.u32 _, [%rd3], 1")->result, "_");
    EXPECT_EQ(memory_instruction("ld.global.u32 %r2, [%rd3]")->result, "");
}

}  // namespace
}  // namespace coalprof
