#include "core/program/module.h"

#include <gtest/gtest.h>

#include "core/program/sample_kernels.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// nvopencc, the compiler of CUDA 1 to 4, declared functions without a semicolon and registers for
// the whole module; others leave out blanks.
TEST(OldPtx, is_read) {
    const Executed ran = run(
        ".version 1.4\n.target sm_13\n.visible .func (.param .f32 r) f (.param .u64 p)\n"
        ".reg .u32 %r<9>;\n.visible .func g\n.entry k(.param.u64 x)\n{\n.reg.u64 %rd<9>;\n"
        "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; mul.lo.u64 %rd2, %rd1, 8; "
        "ld.param.u64 %rd3, [x]; add.u64 %rd4, %rd3, %rd2; st.global.u32 [%rd4], %r1; exit;\n}\n",
        {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(ran[0].global.sectors, 8u);  // 32 lanes, 8 bytes apart
}

TEST(OldPtx, of_32_bits_is_refused) {
    EXPECT_THROW(read_module(".version 3.0\n.target sm_20\n.address_size 32\n", "old.ptx"),
                 UsageError);
}

}  // namespace
}  // namespace coalprof
