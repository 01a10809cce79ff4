// What instructions, branches and memories of PTX do, told by the addresses that follow from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/program/sample_kernels.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

// Loads a float from p0 at the byte that %rd9 says.
const std::string load_at_rd9 =
    "  ld.param.u64 %rd1, [p0];\n  add.s64 %rd2, %rd1, %rd9;\n  ld.global.f32 %r30, [%rd2];\n  "
    "ret;\n";

// The thread's number in %r1 and, as 64 bits, in %rd1.
const std::string thread = "  mov.u32 %r1, %tid.x;\n  cvt.u64.u32 %rd8, %r1;\n";

std::uint64_t sectors_at(const std::string& offset_code) {
    return run(ptx_of(thread + offset_code + load_at_rd9), {1, 1, 1}, {32, 1, 1})[0].global.sectors;
}

// 32 lanes 4, 8 and 128 bytes apart lie in 4, 8 and 32 sectors.
TEST(Execution, of_arithmetic_gives_the_addresses_that_follow) {
    EXPECT_EQ(sectors_at("shl.b64 %rd9, %rd8, 2;"), 4u);
    EXPECT_EQ(sectors_at("mul.lo.s64 %rd9, %rd8, 8;"), 8u);
    EXPECT_EQ(sectors_at("createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0;\n"
                         "shl.b64 %rd9, %rd8, 2;"),
              4u);
    EXPECT_EQ(sectors_at("mul.wide.u32 %rd9, %r1, 128;"), 32u);
    EXPECT_EQ(sectors_at("mad.lo.s32 %r2, %r1, 4, 12; cvt.s64.s32 %rd9, %r2;"), 5u);  // 12 to 139
    EXPECT_EQ(sectors_at("xor.b32 %r2, %r1, 31; shl.b32 %r2, %r2, 2; cvt.u64.u32 %rd9, %r2;"), 4u);
    EXPECT_EQ(sectors_at("and.b32 %r2, %r1, 7; shl.b32 %r2, %r2, 2; cvt.u64.u32 %rd9, %r2;"), 1u);
    EXPECT_EQ(sectors_at("div.u32 %r2, %r1, 4; shl.b32 %r2, %r2, 5; cvt.u64.u32 %rd9, %r2;"), 8u);
    EXPECT_EQ(sectors_at("rem.u32 %r2, %r1, 3; shl.b32 %r2, %r2, 5; cvt.u64.u32 %rd9, %r2;"), 3u);
    // Lane l at 32 (l >> 2) by bit fields; the bits of a lane's number reversed: 32 sectors.
    EXPECT_EQ(sectors_at("bfe.u32 %r2, %r1, 2, 3; shl.b32 %r2, %r2, 5; cvt.u64.u32 %rd9, %r2;"),
              8u);
    EXPECT_EQ(sectors_at("brev.b32 %r2, %r1; shr.u32 %r2, %r2, 22; cvt.u64.u32 %rd9, %r2;"), 32u);
    // -1 has 32 ones, not 64: shifted, it is 2^24 - 1; with 2^32 - 1 for 2^24 - 1 it would be 32.
    EXPECT_EQ(sectors_at("mov.u32 %r2, -1; shr.u32 %r2, %r2, 8; shr.u32 %r2, %r2, 23; "
                         "mul.lo.u32 %r2, %r2, %r1; shl.b32 %r2, %r2, 2; cvt.u64.u32 %rd9, %r2;"),
              4u);
    EXPECT_EQ(sectors_at("sub.u32 %r2, 0, 1; setp.eq.u32 %p1, %r2, -1; selp.u32 %r2, 32, 0, %p1; "
                         "mul.lo.u32 %r2, %r2, %r1; cvt.u64.u32 %rd9, %r2;"),
              32u);
    // Of -1 - l the low five bits are 31 - l.
    EXPECT_EQ(sectors_at("not.b32 %r2, %r1; and.b32 %r2, %r2, 31; shl.b32 %r2, %r2, 2; "
                         "cvt.u64.u32 %rd9, %r2;"),
              4u);
    EXPECT_EQ(sectors_at("cvt.rn.f32.u32 %r2, %r1; mul.f32 %r2, %r2, 0f42000000; "
                         "cvt.rzi.u32.f32 %r3, %r2; cvt.u64.u32 %rd9, %r3;"),
              32u);  // 32.0 l
}

// What the code leaves in %r3.
std::uint64_t number_of(const std::string& code) {
    const Executed result =
        run(ptx_of(code + "\nmul.wide.u32 %rd9, %r3, 4;\n" + load_at_rd9), {1, 1, 1}, {1, 1, 1});
    return (result[0].samples.at(0).access.addresses[0] - first_array) / 4;
}

TEST(Execution, of_real_numbers_rounds_and_saturates_as_the_instruction_says) {
    const auto as_integer = [](const std::string& code) {
        return number_of("mov.b32 %r2, 0f" + code + "\ncvt.rzi.s32.f32 %r3, %r2;");
    };
    EXPECT_EQ(as_integer("40200000; cvt.rmi.f32.f32 %r2, %r2;"), 2u);  // 2.5
    EXPECT_EQ(as_integer("40200000; cvt.rpi.f32.f32 %r2, %r2;"), 3u);
    EXPECT_EQ(as_integer("40600000; cvt.rni.f32.f32 %r2, %r2;"), 4u);  // 3.5
    EXPECT_EQ(as_integer("C0200000; cvt.rmi.f32.f32 %r2, %r2;"), 0xFFFF'FFFDu);
    EXPECT_EQ(as_integer("40200000; cvt.sat.f32.f32 %r2, %r2; mul.f32 %r2, %r2, 0f41000000;"), 8u);
    EXPECT_EQ(as_integer("40200000; add.sat.f32 %r2, %r2, %r2; mul.f32 %r2, %r2, 0f41000000;"), 8u);
    // 2^24 + 1 has no f32: it lies between 2^24 and 2^24 + 2.
    EXPECT_EQ(
        number_of("mov.u32 %r1, 16777217; cvt.rp.f32.u32 %r2, %r1; cvt.rzi.u32.f32 %r3, %r2;"),
        16777218u);
    EXPECT_EQ(as_integer("4B800000; add.rp.f32 %r2, %r2, 0f3F800000;"), 16777218u);
    EXPECT_EQ(as_integer("4B800000; add.rn.f32 %r2, %r2, 0f3F800000;"), 16777216u);
    // 2^62 + 2^38 + 1 as f32 is above half of 2^62 to 2^62 + 2^39; by way of f64 it would be half.
    EXPECT_EQ(number_of("mov.u64 %rd3, 4611686293305294849; cvt.rn.f32.s64 %r2, %rd3; "
                        "cvt.rzi.s64.f32 %rd4, %r2; shr.u64 %rd4, %rd4, 39; and.b64 %rd4, %rd4, 1; "
                        "cvt.u32.u64 %r3, %rd4;"),
              1u);
}

TEST(Execution, of_integers_saturates_and_finds_bits_as_the_instruction_says) {
    EXPECT_EQ(number_of("mov.u32 %r1, 300; cvt.sat.u8.s32 %r3, %r1;"), 255u);
    EXPECT_EQ(number_of("mov.u32 %r1, -300; cvt.sat.u8.s32 %r3, %r1;"), 0u);
    EXPECT_EQ(number_of("mov.u32 %r1, 2147483647; add.sat.s32 %r3, %r1, %r1;"), 2147483647u);
    EXPECT_EQ(number_of("mov.u32 %r1, 12; bfind.u32 %r3, %r1;"), 3u);
    EXPECT_EQ(number_of("mov.u32 %r1, 12; bfind.shiftamt.u32 %r3, %r1;"), 28u);
    EXPECT_EQ(number_of("mov.u32 %r1, 0; bfind.shiftamt.u32 %r3, %r1;"), 0xFFFF'FFFFu);
}

// 27 of 32 lanes pass a comparison; 5 of them take another way and come 4096 bytes further.
TEST(Execution, of_branches_goes_on_with_the_lanes_that_take_them) {
    const std::string text =
        ptx_of(thread +
               "setp.ge.u32 %p1, %r1, 27;\n@%p1 bra DONE;\nshl.b64 %rd9, %rd8, 2;\n"
               "setp.lt.u32 %p2, %r1, 22;\n@%p2 bra NEAR;\nadd.s64 %rd9, %rd9, 4096;\n"
               "NEAR:\n" +
               load_at_rd9 + "DONE:\nret;\n");
    const Executed result = run(text, {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(result[0].global.requests, 1u);  // both ways meet before the load
    EXPECT_EQ(result[0].lanes, 27u);
    EXPECT_EQ(result[0].global.sectors, 5u);  // bytes 0 to 87 and 4184 to 4203: 3 and 2
}

// Lane l loads l times: 31 rounds, of which round k has 32 - k lanes; 496 loads in all.
TEST(Execution, of_loops_has_a_request_for_each_round_that_a_lane_makes) {
    const std::string text =
        ptx_of(thread +
               "mov.u32 %r5, 0;\nmov.u64 %rd9, 0;\nld.param.u64 %rd1, [p0];\nLOOP:\n"
               "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
               "ld.global.f32 %r30, [%rd1];\nadd.s32 %r5, %r5, 1;\nbra LOOP;\n"
               "DONE:\nret;\n");
    const Executed result = run(text, {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(result[0].global.requests, 31u);
    EXPECT_EQ(result[0].lanes, 496u);
}

// Lane l takes what lane l ^ 1 has: pairs exchanged are the same sectors. Down by 16 with the clamp
// of a warp: lanes 16 to 31 keep their own.
TEST(Execution, of_shuffles_and_votes_moves_values_between_lanes) {
    EXPECT_EQ(sectors_at("shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1; shl.b32 %r2, %r2, 2; "
                         "cvt.u64.u32 %rd9, %r2;"),
              4u);
    EXPECT_EQ(sectors_at("shfl.sync.down.b32 %r2|%p1, %r1, 16, 31, -1; shl.b32 %r2, %r2, 2; "
                         "cvt.u64.u32 %rd9, %r2;"),
              2u);  // lanes 16 to 31 of both halves: 64 bytes
    // Lane 31 gets lane 0's number, as the clamp is 0; all others keep theirs.
    EXPECT_EQ(sectors_at("shfl.sync.up.b32 %r2|%p1, %r1, 31, 0, -1; mul.wide.u32 %rd9, %r2, 32;"),
              31u);
    EXPECT_EQ(sectors_at("shfl.sync.idx.b32 %r2|%p1, %r1, 5, 31, -1; shl.b32 %r2, %r2, 2; "
                         "cvt.u64.u32 %rd9, %r2;"),
              1u);
    // 7 lanes are below 7: all lanes load from byte 32 * 7.
    EXPECT_EQ(
        sectors_at("setp.lt.u32 %p1, %r1, 7; vote.sync.ballot.b32 %r2, %p1, -1; popc.b32 %r3, %r2; "
                   "shl.b32 %r3, %r3, 5; cvt.u64.u32 %rd9, %r3;"),
        1u);
}

// Lanes 16 to 31 come to MEET first; the others lie further down, and have 100 more.
TEST(Execution, of_what_lanes_execute_together_waits_for_those_that_come_later) {
    const auto met = [](const std::string& together) {
        return run(ptx_of(thread + "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra LATE;\nMEET:\n" + together +
                          "mul.wide.u32 %rd9, %r1, 4;\n" + load_at_rd9 +
                          "LATE:\nadd.u32 %r1, %r1, 100;\nbra MEET;\n"),
                   {1, 1, 1}, {32, 1, 1})[0];
    };
    EXPECT_EQ(met("").warps, 2u);
    EXPECT_EQ(met("bar.warp.sync -1;\n").warps, 1u);
    const SiteCounts shuffled = met("shfl.sync.bfly.b32 %r1|%p2, %r1, 16, 31, -1;\n");
    EXPECT_EQ(shuffled.warps, 1u);
    EXPECT_EQ(shuffled.samples.at(0).access.addresses[16] - first_array, 400u);
    // Lanes that the mask does not name are not waited for, nor those that never come.
    EXPECT_EQ(met("shfl.sync.bfly.b32 %r1|%p2, %r1, 1, 31, 0xFFFF0000;\n").warps, 2u);
    EXPECT_EQ(met("@%p1 exit;\nbar.warp.sync -1;\n").warps, 1u);
}

// A table of the block: thread t stores 31 - t, and after the barrier loads what t ^ 1 has stored.
TEST(Execution, of_shared_memory_keeps_what_the_block_stores) {
    const std::string text = ptx_of(
        "  .shared .align 4 .b8 table[128];\n" + thread +
        "mov.u32 %r2, table;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\nsub.s32 %r5, 31, %r1;\n"
        "st.shared.u32 [%r4], %r5;\nbar.sync 0;\nxor.b32 %r6, %r3, 4;\nadd.s32 %r6, %r2, %r6;\n"
        "ld.shared.u32 %r7, [%r6];\nmul.wide.u32 %rd9, %r7, 4;\n" +
        load_at_rd9);
    const Executed result = run(text, {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(result[0].shared.wavefronts, 1u);
    EXPECT_EQ(result[1].shared.wavefronts, 1u);
    EXPECT_EQ(result[2].global.sectors, 4u);  // 0 if zeros had been loaded: one sector
}

// "extern __shared__" lies behind the block's own arrays: what is stored there changes none of
// them.
TEST(Execution, of_dynamic_shared_memory_leaves_what_the_kernel_declares) {
    std::string text = ptx_of(
        "  .shared .align 4 .b8 table[128];\n" + thread +
        "mov.u32 %r2, table;\nmov.u32 %r3, more;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r2, %r2, %r4;\n"
        "add.u32 %r3, %r3, %r4;\nst.shared.u32 [%r2], %r1;\nst.shared.u32 [%r3], 0;\n"
        "ld.shared.u32 %r7, [%r2];\nmul.wide.u32 %rd9, %r7, 4;\n" +
        load_at_rd9);
    text.insert(text.find(".visible"), ".extern .shared .align 16 .b8 more[];\n");
    Code code = code_of(text);
    BoundLaunch bound = bind_arguments(code, {});
    bound.launch.block = {32, 1, 1};
    bound.launch.dynamic_shared_bytes = 128;
    const Executed result = executed(code, bound.launch, bound.memory);
    EXPECT_TRUE(result.notes.faults.empty());
    EXPECT_EQ(result.counts.back().global.sectors, 4u);  // of zeros one
}

// Rows of 128 bytes: 32 lanes of a column are in one bank; with 132 bytes in 32.
TEST(Execution, of_shared_memory_counts_passes_through_its_banks) {
    const auto passes = [](const char* pitch) {
        return run(ptx_of("  .shared .align 4 .b8 tile[8192];\n" + thread +
                          "mov.u32 %r2, tile;\nmad.lo.s32 %r3, %r1, " + pitch +
                          ", %r2;\nld.shared.f32 %r4, [%r3];\nret;\n"),
                   {1, 1, 1}, {32, 1, 1})[0]
            .shared.wavefronts;
    };
    EXPECT_EQ(passes("128"), 32u);
    EXPECT_EQ(passes("132"), 1u);
}

// x[col[i]]: 32 lanes that are sent 0, 64, 128, ... bytes further ask for 32 sectors of x.
const std::string gather =
    thread +
    "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\nmul.wide.u32 %rd5, %r2, 64;\n"
    "add.s64 %rd6, %rd1, %rd5;\nld.global.f32 %r3, [%rd6];\nret;\n";
TEST(Execution, of_gathers_follows_what_an_index_array_holds) {
    const Executed given = run(ptx_of(gather, 2), {1, 1, 1}, {32, 1, 1}, {"1=u32[32]=iota"});
    EXPECT_EQ(given[1].global.sectors, 32u);
    EXPECT_TRUE(given.contents_missing.empty());
    const Executed zeros = run(ptx_of(gather, 2), {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(zeros[1].global.sectors, 1u);
    EXPECT_EQ(zeros.contents_missing, std::vector<std::string>{"p1"});
}

// Lane t stores what it loaded of p0 at [0, 128) of shared memory and of p1 at [128, 256); the
// address follows what lies at `from`, by way of a neighbour and of local memory.
std::vector<std::string> decided_by(const char* from) {
    const std::string text = ptx_of(
        "  .shared .align 4 .b8 both[256];\n  .local .align 4 .b8 depot[4];\n" + thread +
            "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmul.wide.u32 %rd3, %r1, 4;\n"
            "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nmov.u32 %r2, both;\n"
            "shl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\nld.global.u32 %r5, [%rd4];\n"
            "ld.global.u32 %r6, [%rd5];\nst.shared.u32 [%r4], %r5;\nst.shared.u32 [%r4+128], %r6;\n"
            "bar.sync 0;\nld.shared.u32 %r7, [%r4" +
            std::string(from) +
            "];\n"
            "shfl.sync.bfly.b32 %r8|%p1, %r7, 1, 31, -1;\nmov.u32 %r10, depot;\n"
            "st.local.u32 [%r10], %r8;\nld.local.u32 %r9, [%r10];\nmul.wide.u32 %rd6, %r9, 4;\n"
            "add.s64 %rd7, %rd1, %rd6;\nst.global.f32 [%rd7], %r3;\nret;\n",
        2);
    return run(text, {1, 1, 1}, {32, 1, 1}, {"1=u32[32]=iota"}).contents_missing;
}
TEST(Execution, names_arrays_that_nobody_gave_only_where_they_decide) {
    EXPECT_EQ(decided_by(""), std::vector<std::string>{"p0"});
    EXPECT_TRUE(decided_by("+128").empty());  // p0's went through the same memory
}

// What the kernel has stored itself it knows.
TEST(Execution, misses_no_contents_that_the_kernel_stored_before) {
    const std::string text =
        ptx_of(thread +
               "ld.param.u64 %rd1, [p0];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
               "st.global.u32 [%rd3], %r1;\nld.global.u32 %r2, [%rd3];\nsetp.eq.u32 %p1, %r2, 3;\n"
               "@%p1 st.global.u32 [%rd3+128], %r2;\nret;\n");
    EXPECT_TRUE(run(text, {1, 1, 1}, {32, 1, 1}).contents_missing.empty());
}

// Pointers to one array: what is stored through p0 decides what is loaded through p1. The lanes'
// numbers, 32 bytes apart, are 32 sectors; apart, p1 holds zeros.
TEST(Execution, of_pointers_that_share_an_array_loads_what_the_other_stored) {
    const std::string text = ptx_of(
        thread +
            "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nshl.b64 %rd3, %rd8, 2;\n"
            "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nst.global.u32 [%rd4], %r1;\n"
            "ld.global.u32 %r2, [%rd5];\nmul.wide.u32 %rd6, %r2, 32;\nadd.s64 %rd7, %rd1, %rd6;\n"
            "ld.global.u32 %r3, [%rd7];\nret;\n",
        2);
    EXPECT_EQ(run(text, {1, 1, 1}, {32, 1, 1}, {"p1=p0"})[2].global.sectors, 32u);
    EXPECT_EQ(run(text, {1, 1, 1}, {32, 1, 1})[2].global.sectors, 1u);
}

// Row r of a matrix of 16-bit elements is where lane r points; lane l gets elements 2 (l % 4) and
// the next of row l / 4, or of the matrix turned. Element (r, c) holds 8 r + c here.
TEST(Execution, of_ldmatrix_hands_each_lane_its_pair_of_elements) {
    const auto sectors = [](const std::string& form) {
        const std::string text =
            ".shared .align 16 .b8 t[128];\nmov.u32 %r2, t;\nshl.b32 %r3, %r1, 2;\n"
            "add.s32 %r4, %r2, %r3;\nmul.lo.u32 %r5, %r1, 131074;\nadd.u32 %r5, %r5, 65536;\n"
            "st.shared.u32 [%r4], %r5;\nbar.sync 0;\nand.b32 %r6, %r1, 7;\n"
            "shl.b32 %r6, %r6, 4;\nadd.s32 %r6, %r2, %r6;\nldmatrix.sync.aligned.m8n8.x1" +
            form +
            ".shared.b16 {%r7}, [%r6];\nand.b32 %r7, %r7, 65535;\nshl.b32 %r7, %r7, 2;\n"
            "cvt.u64.u32 %rd9, %r7;\n";
        return run(ptx_of(thread + text + load_at_rd9), {1, 1, 1}, {32, 1, 1})[2].global.sectors;
    };
    EXPECT_EQ(sectors(""), 8u);        // elements 0, 2, 4, ... 62 of 4 bytes
    EXPECT_EQ(sectors(".trans"), 4u);  // rows 0, 2, 4, 6: elements 16 (l % 4) + l / 4
}

// Lane l copies number l to shared memory and loads the sector of that number: 32 of them. Of
// lanes that copy nothing the number is 0.
TEST(Execution, of_copies_to_shared_memory_leaves_there_what_decides_addresses) {
    const auto sectors = [](const std::string& copy) {
        const std::string text =
            ".shared .align 16 .b8 t[144];\nld.param.u64 %rd3, [p1];\nmov.u32 %r2, t;\n"
            "shl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\ncvt.u64.u32 %rd4, %r3;\n"
            "add.s64 %rd5, %rd3, %rd4;\nand.b32 %r6, %r1, 1;\nshl.b32 %r6, %r6, 2;\n"
            "setp.eq.u32 %p1, %r1, 0;\n" +
            copy + "\nbar.sync 0;\nld.shared.u32 %r7, [%r4+16];\nmul.wide.u32 %rd9, %r7, 32;\n";
        const Executed result =
            run(ptx_of(thread + text + load_at_rd9, 2), {1, 1, 1}, {32, 1, 1}, {"p1=i32[32]=iota"});
        return result.counts.back().global.sectors;
    };
    EXPECT_EQ(sectors("cp.async.ca.shared.global [%r4+16], [%rd5], 4;"), 32u);
    EXPECT_EQ(sectors("cp.async.ca.shared.global [%r4+16], [%rd5], 4, %r6;"), 17u);
    EXPECT_EQ(sectors("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                      "[t+16], [%rd3], 128, [%r9];"),
              32u);
}

// Accesses, their width and sectors (passes of shared memory) for lines 48 elements apart. Widths
// are those of machine code of sm_90. Rows of 96 bytes and 192 bytes begin with a sector: a quarter
// of a warp has one of each of 8 lines, lanes of single elements one of each of 4.
TEST(Execution, of_wmma_asks_for_what_ptxas_makes_of_it) {
    struct Form {
        std::string opcode;
        std::size_t values, accesses;
        std::uint32_t width_bytes;
        std::uint64_t sectors;
    };
    const std::vector<Form> forms{
        {"load.a.sync.aligned.row.m16n16k16.global.f16", 8, 4, 4, 32},
        {"load.b.sync.aligned.row.m16n16k16.global.bf16", 4, 4, 4, 32},
        {"load.a.sync.aligned.col.m16n16k16.global.s8", 2, 8, 1, 32},
        {"load.b.sync.aligned.col.m16n16k16.global.s8", 2, 2, 4, 16},
        {"load.a.sync.aligned.row.m16n16k8.global.tf32", 4, 4, 4, 32},
        {"load.c.sync.aligned.row.m16n16k16.global.f32", 8, 4, 8, 32},
        {"store.d.sync.aligned.col.m16n16k16.global.f32", 8, 8, 4, 32},
        {"store.d.sync.aligned.row.m8n32k16.global.f32", 8, 8, 4, 32},
        {"load.c.sync.aligned.row.m8n8k4.global.f64", 2, 1, 16, 16},
        {"load.a.sync.aligned.row.m16n16k16.shared.f16", 8, 1, 16, 8},
        {"load.b.sync.aligned.row.m8n32k16.shared.f16", 8, 2, 16, 16},
        {"load.c.sync.aligned.row.m16n16k16.shared.f32", 8, 4, 8, 16},
    };
    for (const Form& form : forms) {
        std::string values;
        for (std::size_t i = 0; i < form.values; ++i)
            values += (i == 0 ? "{%r" : ", %r") + std::to_string(i + 10);
        if (form.opcode.ends_with("f64")) values = "{%rd8, %rd9";
        const bool is_load = form.opcode.starts_with("load");
        const bool is_shared = form.opcode.find("shared") != std::string::npos;
        const std::string pointer = is_shared ? "[t]" : "[%rd1]";
        const std::string text = ptx_of(
            ".shared .align 128 .b8 t[8192];\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, 48;\nwmma." +
            form.opcode + " " +
            (is_load ? values + "}, " + pointer : pointer + ", " + values + "}") + ", %r1;\nret;");
        const Code code = code_of(text);
        const Executed result = run(text, {1, 1, 1}, {32, 1, 1});
        ASSERT_EQ(code.sites.size(), form.accesses) << form.opcode;
        std::uint64_t sectors = 0;
        for (const SiteCounts& one : result.counts)
            sectors += one.global.sectors + one.shared.wavefronts;
        EXPECT_EQ(code.sites[0].width_bytes, form.width_bytes) << form.opcode;
        EXPECT_EQ(sectors, form.sectors) << form.opcode;
        EXPECT_TRUE(code.uncounted.empty()) << form.opcode;
    }
}

// The opcodes that are left of accesses to 8 floats behind a register that 64 divides, and what the
// third load gave: it decides an address.
TEST(Execution, merges_accesses_of_shared_memory_as_ptxas_does) {
    const auto opcodes = [](const std::string& body) {
        const Code code =
            code_of(ptx_of(".shared .align 4 .b8 t[4096];\nmov.u32 %r1, %tid.x;\n"
                           "mov.u32 %r2, t;\nmad.lo.u32 %r3, %r1, 64, %r2;\n" +
                           body + "\nret;"));
        std::string all;
        for (const PtxInstruction& one : code.instructions)
            if (one.site != ~0u) all += code.sites[one.site].instruction + " ";
        return all;
    };
    const std::string four =
        "ld.shared.f32 %r4, [%r3+16]; ld.shared.f32 %r5, [%r3+20]; "
        "ld.shared.f32 %r6, [%r3+28]; ";
    const std::string last = "ld.shared.f32 %r7, [%r3+24];";
    EXPECT_EQ(opcodes(four + last), "ld.shared.v4.f32 ");
    EXPECT_EQ(opcodes(four), "ld.shared.v2.f32 ld.shared.f32 ");
    EXPECT_EQ(opcodes(four + "bar.sync 0; " + last),
              "ld.shared.v2.f32 ld.shared.f32 ld.shared.f32 ");
    EXPECT_EQ(opcodes(four + "st.shared.f32 [%r2], %r4; " + last),
              "ld.shared.v2.f32 ld.shared.f32 st.shared.f32 ld.shared.f32 ");
    EXPECT_EQ(opcodes(four + "add.u32 %r7, %r7, 1; " + last),
              "ld.shared.v2.f32 ld.shared.f32 ld.shared.f32 ");
    EXPECT_EQ(opcodes("add.u32 %r3, %r3, 4; " + four + last),
              "ld.shared.f32 ld.shared.f32 ld.shared.f32 ld.shared.f32 ");
    EXPECT_EQ(opcodes("ld.volatile.shared.f32 %r4, [%r3]; ld.volatile.shared.f32 %r5, [%r3+4];"),
              "ld.volatile.shared.f32 ld.volatile.shared.f32 ");
    EXPECT_EQ(opcodes("st.shared.b64 [%r3+8], %rd1; st.shared.b64 [%r3], %rd2;"),
              "st.shared.v2.b64 ");
    const Executed values =
        run(ptx_of(".shared .align 4 .b8 t[64];\nmov.u32 %r4, 5; mov.u32 %r5, 6; mov.u32 %r6, 7; "
                   "st.shared.u32 [t+4], %r5; st.shared.u32 [t], %r4; st.shared.u32 [t+8], %r6; "
                   "ld.shared.u32 %r7, [t+8]; ld.shared.u32 %r8, [t+4]; ld.shared.u32 %r9, [t]; "
                   "mad.lo.u32 %r3, %r9, 100, %r8; mad.lo.u32 %r3, %r3, 10, %r7; "
                   "mul.wide.u32 %rd9, %r3, 4;\n" +
                   load_at_rd9),
            {1, 1, 1}, {1, 1, 1});
    EXPECT_EQ((values.counts.back().samples.at(0).access.addresses[0] - first_array) / 4, 5067u);
}

// Half of 0.5 is 0x3800 = 14336; bf16 of 3.0 is 0x4040; 32 lanes of 1.0 to 32.0 are as far apart
// as their numbers once they are integers again.
TEST(Execution, of_real_numbers_of_16_bits_rounds_as_hardware_does) {
    const std::string back = "mul.lo.u32 %r3, %r3, 32; cvt.u64.u32 %rd9, %r3;";
    const std::string regs = ".reg .b16 %h<3>;\n";
    EXPECT_EQ(sectors_at(regs + "cvt.rn.f16.u32 %h1, %r1; cvt.rzi.u32.f16 %r3, %h1; " + back), 32u);
    EXPECT_EQ(sectors_at(regs +
                         "cvt.rn.f32.u32 %r2, %r1; cvt.rn.bf16.f32 %h1, %r2; "
                         "cvt.f32.bf16 %r2, %h1; cvt.rzi.u32.f32 %r3, %r2; " +
                         back),
              32u);
    // 2049 lies between 2048 and 2050: to the even one. All lanes are at one place.
    EXPECT_EQ(sectors_at(regs +
                         "mov.u32 %r2, 2049; cvt.rn.f16.u32 %h1, %r2; "
                         "cvt.rzi.u32.f16 %r3, %h1; sub.u32 %r3, %r3, 2048; " +
                         back),
              1u);
    // dp4a: bytes (l, 0, 0, 0) times (32, 0, 0, 0).
    EXPECT_EQ(sectors_at("dp4a.u32.u32 %r3, %r1, 32, 0; cvt.u64.u32 %rd9, %r3;"), 32u);
}

// A counter that every block adds to before it goes on: it decides the address, so blocks run in
// order and lane l of block b is given 32 b + l. 4 blocks: 16 sectors.
TEST(Execution, of_atomics_whose_results_are_used_runs_blocks_in_order) {
    const std::string text = ptx_of(thread +
                                        "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, "
                                        "[p1];\natom.global.add.u32 %r2, [%rd2], 1;\n"
                                        "mul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd6, %rd1, "
                                        "%rd5;\nst.global.f32 [%rd6], %r3;\nret;\n",
                                    2);
    const Executed result = run(text, {4, 1, 1}, {32, 1, 1}, {"1=u32[1]=0"});
    EXPECT_EQ(result[1].global.sectors, 16u);
}

// From 0 on, modulo 4: both give 0 to 3 in turn to the lanes, each of which stores to a sector of
// its own.
TEST(Execution, of_atomics_that_wrap_around_gives_all_numbers_up_to_their_bound) {
    for (const std::string op : {"inc", "dec"}) {
        const std::string text = ptx_of(
            thread + "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\natom.global." + op +
                ".u32 %r2, [%rd2], 3;\nmul.wide.u32 %rd5, %r2, 32;\nadd.s64 %rd6, %rd1, %rd5;\n"
                "st.global.f32 [%rd6], %r3;\nret;\n",
            2);
        EXPECT_EQ(run(text, {1, 1, 1}, {32, 1, 1}, {"1=u32[1]=0"})[1].global.sectors, 4u) << op;
    }
}

// A function that is not inlined adds what it is given to 4 times the thread's number.
TEST(Execution, of_calls_passes_arguments_and_results) {
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func (.param .b32 out) f(.param .b32 a, .param .b32 b)\n{\n  .reg .b32 %r<9>;\n"
        "  ld.param.u32 %r1, [a];\n  ld.param.u32 %r2, [b];\n  mad.lo.s32 %r3, %r1, 4, %r2;\n"
        "  st.param.b32 [out], %r3;\n  ret;\n}\n"
        ".visible .entry k(.param .u64 p0)\n{\n  .reg .b32 %r<40>;\n  .reg .b64 %rd<40>;\n"
        "  mov.u32 %r1, %tid.x;\n  { .param .b32 x; st.param.b32 [x], %r1; .param .b32 y; "
        "st.param.b32 [y], 64; .param .b32 z;\n  call.uni (z), f, (x, y);\n  ld.param.b32 %r2, "
        "[z]; }\n"
        "  cvt.u64.u32 %rd9, %r2;\n" +
        load_at_rd9 + "}\n";
    const Executed result = run(text, {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(result[0].global.sectors, 4u);  // bytes 64 to 191
    EXPECT_EQ(result[0].global.lines, 2u);
}

// Without being asked for more than p0's 16 floats: lane 16 is the first outside.
// k.cu calls a function of CUDA's headers, which calls another one.
TEST(Execution, knows_the_users_line_where_functions_of_headers_were_inlined_in_each_other) {
    const Code code =
        code_of(ptx_of(".loc 2 7 1, function_name $I, inlined_at 1 5 3\n"
                       ".loc 2 9 1, function_name $I, inlined_at 2 7 1\n  mov.u64 %rd9, 0;\n" +
                       load_at_rd9) +
                "\n\t.file 1 \"k.cu\"\n\t.file 2 \"/usr/local/cuda/include/atomics.hpp\"\n");
    EXPECT_EQ(code.sites.at(0).source.line, 9u);
    EXPECT_EQ(code.sites.at(0).inlined_at, (SourceLine{"k.cu", 5}));
}

TEST(Faults, tell_the_thread_that_leaves_its_array) {
    const std::string text = ptx_of(thread + "shl.b64 %rd9, %rd8, 2;\n" + load_at_rd9);
    const Executed result = run(text, {1, 1, 1}, {32, 1, 1}, {"0=f32[16]"});
    ASSERT_EQ(result.notes.faults.size(), 1u);
    EXPECT_EQ(result.notes.faults[0].kind, KernelFault::Kind::out_of_bounds);
    EXPECT_EQ(result.notes.faults[0].thread[0], 16u);
    EXPECT_EQ(result[0].lanes, 16u);  // the others are counted
    EXPECT_TRUE(run(text, {1, 1, 1}, {32, 1, 1}, {"0=f32[32]"}).notes.faults.empty());
}

// The block is told, too: of 8 blocks the sixth (5) leaves 160 floats.
TEST(Faults, tell_the_block_that_leaves_its_array) {
    const std::string text = ptx_of(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r3, %r2, 32, %r1;\n"
        "mul.wide.u32 %rd9, %r3, 4;\n" +
        load_at_rd9);
    const Executed result = run(text, {8, 1, 1}, {32, 1, 1}, {"0=f32[160]"});
    ASSERT_EQ(result.notes.faults.size(), 1u);
    EXPECT_GE(result.notes.faults[0].block[0], 5u);
    EXPECT_EQ(result[0].lanes, 160u);
}

TEST(Faults, are_null_pointers_and_addresses_between_elements) {
    const std::string text = ptx_of(thread + "shl.b64 %rd9, %rd8, 2;\n" + load_at_rd9);
    EXPECT_EQ(run(text, {1, 1, 1}, {32, 1, 1}, {"0=0"}).notes.faults.at(0).kind,
              KernelFault::Kind::no_memory);
    const std::string odd =
        ptx_of(thread + "mad.lo.s32 %r2, %r1, 4, 2; cvt.u64.u32 %rd9, %r2;\n" + load_at_rd9);
    EXPECT_EQ(run(odd, {1, 1, 1}, {32, 1, 1}).notes.faults.at(0).kind,
              KernelFault::Kind::misaligned);
}

template <typename Work>
std::string refusal_of(Work work) {
    try {
        work();
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

// It waits for what another block would store: without a limit, too, that is known at once.
TEST(Kernels, that_come_back_to_the_same_state_are_endless) {
    LaunchMemory memory;
    const ExecutionLimits no_limit{.steps_of_warp = ~std::uint64_t{0}};
    for (const char* const text :
         {"HERE:\nbra HERE;\n",
          "ld.param.u64 %rd1, [p0];\nHERE:\nld.volatile.global.u32 %r1, [%rd1];\n"
          "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra HERE;\nret;\n"}) {
        Code endless = code_of(ptx_of(text));
        BoundLaunch bound = bind_arguments(endless, {});
        EXPECT_THAT(refusal_of([&] { executed(endless, bound.launch, bound.memory, no_limit); }),
                    HasSubstr("comes back to the same state"));
    }
    // A counter in shared memory, and one that wraps after 2^16 turns, end.
    EXPECT_EQ(run(ptx_of("  .shared .align 4 .b8 n[4];\nmov.u32 %r1, n;\nHERE:\n"
                         "ld.shared.u32 %r2, [%r1];\nadd.u32 %r2, %r2, 1;\n"
                         "st.shared.u32 [%r1], %r2;\nsetp.lt.u32 %p1, %r2, 20000;\n"
                         "@%p1 bra HERE;\nret;\n"),
                  {1, 1, 1}, {1, 1, 1})[0]
                  .warps,
              20'000u);
    EXPECT_EQ(run(ptx_of("ld.param.u64 %rd1, [p0];\nHERE:\nadd.u32 %r1, %r1, 1;\n"
                         "and.b32 %r2, %r1, 65535;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra HERE;\n"
                         "ld.global.u32 %r3, [%rd1];\nret;\n"),
                  {1, 1, 1}, {32, 1, 1})[0]
                  .warps,
              1u);
}

// Each of these wrote behind an array, divided by zero or was undefined; ptxas refuses them all.
TEST(Kernels, whose_instructions_ptx_does_not_have_are_refused) {
    for (const char* const text :
         {"cp.async.ca.shared.global [0], [%rd1], 1048576;",
          "cp.async.ca.shared.global [0], [%rd1], 5;",
          "cp.async.cg.shared.global [0], [%rd1], 8;",
          "ld.global.v2.v4.u32 {%r1, %r2}, [%rd1];",
          "ld.global.v4.b128 {%rd1, %rd2, %rd3, %rd4}, [%rd1];",
          "ld.global.u32.u64 %rd2, [%rd1];",
          "ld.global %r1, [%rd1];",
          "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
          "ld.shared.v4.u64 {%rd2, %rd3, %rd4, %rd5}, [%r1];",
          "st.global.v2.u32 [%rd1], %r1;",
          "red.global.u32 [%rd1], 1;",
          "atom.global.add.v8.u32 %r1, [%rd1], 1;",
          "mul.wide.s64 %rd1, %rd2, %rd3;",
          "div.s16 %r2, %r1, %r1;",
          "rem.s16 %r2, %r1, %r1;",
          "div.s8 %r2, %r1, %r1;",
          "rem.s8 %r2, %r1, %r1;",
          "add.u64 %r1, %r2, %r3;",
          "add.u128 %r1, %r2, %r3;",
          "mul24.lo.u64 %rd1, %rd2, %rd3;",
          "popc.b16 %r1, %r2;",
          "mov.b64 {%r1, %r2, %r3}, %rd1;",
          "add.fast.u32 %r1, %r2, %r3;",
          "mul.lo.high.u32 %r1, %r2, %r3;",
          "bar.sinc 0;",
          "shfl.sync.bfly.wide.b32 %r1, %r2, 1, 31, -1;",
          "setp.lt.nearly.u32 %p1, %r1, %r2;",
          "ld.global.cached.u32 %r1, [%rd1];",
          "st.global.v3.u32 [%rd1], {%r1, %r2};",
          "red.global.add.quick.u32 [%rd1], 1;",
          "cp.async.ca.shared.global.later [0], [%rd1], 16;",
          "wmma.load.a.sync.aligned.m16n16k16.row.f16 {%r1,%r2,%r3,%r4,%r1,%r2,%r3,%r4}, [%rd1], "
          "_;",
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4, %r5}, [%r9];"}) {
        const std::string refused =
            refusal_of([&] { code_of(ptx_of(std::string(text) + "\nret;\n")); });
        EXPECT_THAT(refused, HasSubstr(std::string(text).substr(0, 8))) << text;
    }
    // The whole value is cut to its width first.
    EXPECT_EQ(run(ptx_of("  .reg .b16 %rs<4>;\nmov.u32 %r1, 65536;\ncvt.u16.u32 %rs1, %r1;\n"
                         "mov.u16 %rs3, -32768;\ndiv.s16 %rs2, %rs3, %rs1;\n"
                         "rem.s16 %rs2, %rs3, -1;\ncvt.u32.u16 %r2, %rs2;\n"
                         "ld.param.u64 %rd1, [p0];\nmul.wide.u32 %rd2, %r2, 4;\n"
                         "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r3, [%rd3];\nret;\n"),
                  {1, 1, 1}, {32, 1, 1})[0]
                  .global.sectors,
              1u);
}

// 1 KB each. Calls of empty functions are statements, 10^12 of them here; a variable's width would
// be 16^7 bytes, with as many for each value.
TEST(Kernels, of_few_words_take_no_more_than_their_words_are_worth) {
    std::string calls = ".version 8.0\n.target sm_90\n.address_size 64\n.func f0(){ret;}\n";
    for (int f = 1; f <= 12; ++f) {
        calls += ".func f" + std::to_string(f) + "(){";
        for (int i = 0; i < 10; ++i) calls += "call f" + std::to_string(f - 1) + ";";
        calls += "}\n";
    }
    calls += ".visible .entry k(){call f12;ret;}\n";
    EXPECT_THAT(refusal_of([&] { code_of(calls); }), HasSubstr("once its calls are inlined"));
    const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
    EXPECT_THAT(refusal_of([&] {
                    code_of(head +
                            ".global .b128 .b128 .b128 .b128 .b128 .b128 .b128 x[1]={1,1};\n"
                            ".visible .entry k(){ret;}\n");
                }),
                HasSubstr("one type"));
    for (const char* const extents : {"[4294967296][4294967296]", "[268435457]"})
        EXPECT_THAT(
            refusal_of([&] {
                code_of(head + ".global .b128 x" + extents + ";\n.visible .entry k(){ret;}\n");
            }),
            HasSubstr("4 GiB"));
}

TEST(Kernels, that_cannot_be_executed_are_refused_with_a_sentence) {
    const auto refused = [](const std::string& text,
                            const std::vector<std::string>& arguments = {}) {
        return refusal_of([&] { run(text, {1, 1, 1}, {32, 1, 1}, arguments); });
    };
    EXPECT_THAT(refused("hello"), HasSubstr("no PTX"));
    EXPECT_THAT(refused(ptx_of("mov.u32 %r1, %tid.x;").substr(0, 150)), HasSubstr("ends"));
    EXPECT_THAT(refused(ptx_of("bra NOWHERE;\nret;")), HasSubstr("no such label"));
    // Endless: the limit says where it is.
    const Code endless =
        code_of(ptx_of("HERE:\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                       "@%p1 bra HERE;\nret;\n"));
    LaunchMemory memory;
    EXPECT_THAT(refusal_of([&] { executed(endless, {}, memory, {.steps_of_warp = 1000}); }),
                HasSubstr("takes more than 1000 instructions"));
    // An address depends on p1, which is no pointer: it must be given.
    const std::string needs = ptx_of(
        thread + "ld.param.u64 %rd3, [p1];\nmul.lo.s64 %rd9, %rd8, %rd3;\n" + load_at_rd9, 2);
    EXPECT_THAT(refused(needs), HasSubstr("lacks --arg p1"));
    EXPECT_EQ(run(needs, {1, 1, 1}, {32, 1, 1}, {"1=8"})[0].global.sectors, 8u);
    EXPECT_THAT(refused(needs, {"x=8"}), HasSubstr("no parameter 'x'"));
    EXPECT_THAT(refused(needs, {"7=8"}), HasSubstr("2 parameters"));
    EXPECT_THAT(refused(needs, {"1=x"}), HasSubstr("no number"));
    EXPECT_THAT(refused(needs, {"1=8", "1=9"}), HasSubstr("twice"));
    // What decides an address is part of a matrix. Where no lane comes to it, nothing does.
    const std::string matrix =
        thread +
        "setp.gt.u32 %p1, %r1, LIMIT;\nshl.b64 %rd9, %rd8, 2;\n@!%p1 bra HERE;\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\ncvt.u64.u32 %rd9, %r2;\n"
        "HERE:\n" +
        load_at_rd9;
    const auto with_limit = [&](const char* limit) {
        return ptx_of(std::string(matrix).replace(matrix.find("LIMIT"), 5, limit));
    };
    EXPECT_THAT(refused(with_limit("30")), HasSubstr("is not known here"));
    EXPECT_EQ(run(with_limit("99"), {1, 1, 1}, {32, 1, 1})[0].lanes, 32u);
}

TEST(Execution, textures_hold_zeros_and_are_named_where_they_decide) {
    const auto fetch = [](const std::string& use) {
        return run(ptx_of(thread + "tex.1d.v4.u32.s32 {%r2,%r3,%r4,%r5}, [p0, {%r1}];\n" + use +
                          load_at_rd9),
                   {1, 1, 1}, {32, 1, 1});
    };
    const Executed decides = fetch("cvt.u64.u32 %rd9, %r5;\n");
    EXPECT_EQ(decides[0].global.sectors, 1u);  // all lanes load word 0
    EXPECT_NE(decides.notes.decisive & by_fetches, 0u);
    EXPECT_EQ(fetch("shl.b64 %rd9, %rd8, 2;\n").notes.decisive, 0u);
}

TEST(Execution, blocks_pass_the_barrier_of_their_grid) {
    // As cooperative_groups waits: the first thread of a block adds to the second word, and loads
    // it until its highest bit is another one.
    const Executed all =
        run(ptx_of(thread +
                   "mov.u32 %r2, %envreg2; cvt.u64.u32 %rd5, %r2; mov.u32 %r3, %envreg1;\n"
                   "cvt.u64.u32 %rd6, %r3; bfi.b64 %rd7, %rd6, %rd5, 32, 32;\n"
                   "setp.ne.u32 %p1, %r1, 0; @%p1 bra BEHIND; add.s64 %rd9, %rd7, 4;\n"
                   "atom.add.release.gpu.u32 %r4, [%rd9], 1;\n"
                   "AGAIN: ld.acquire.gpu.u32 %r5, [%rd9]; xor.b32 %r6, %r5, %r4;\n"
                   "setp.gt.s32 %p1, %r6, -1; @%p1 bra AGAIN;\n"
                   "BEHIND: bar.sync 0; shl.b64 %rd9, %rd8, 2;\n" +
                   load_at_rd9),
            {64, 1, 1}, {64, 1, 1});
    std::uint64_t loads = 0;
    for (const SiteCounts& one : all.counts) loads += one.warps;
    EXPECT_EQ(loads, 128u);  // two warps of each block; the barrier's word counts nowhere
}

TEST(Execution, names_loads_of_constants_whose_lanes_differ) {
    const auto uncounted = [](const std::string& index) {
        return code_of(ptx_of(thread + "mov.u64 %rd5, " + index +
                              "; ld.const.u32 %r2, [%rd5]; shl.b64 %rd9, %rd8, 2;\n" + load_at_rd9))
            .uncounted.size();
    };
    EXPECT_EQ(uncounted("%rd8"), 1u);
    EXPECT_EQ(uncounted("64"), 0u);
}

// The carry of one word decides how far apart lanes load, 128 bytes for each step of the next word.
TEST(Execution, carries_from_word_to_word) {
    const auto sectors = [](const std::string& words) {
        return sectors_at(words + "\nmul.wide.u32 %rd9, %r9, 128;");
    };
    // Of 2^32 - 1 + tid all but lane 0 carry; of 0 - tid all but lane 0 borrow.
    EXPECT_EQ(sectors("add.cc.u32 %r8, 0xFFFFFFFF, %r1; addc.u32 %r9, 0, 0;"), 2u);
    EXPECT_EQ(sectors("sub.cc.u32 %r8, 0, %r1; subc.u32 %r9, 7, 0;"), 2u);
    // (tid + 1) * 2^31 without the sum's own carry is tid * 2^31: odd lanes carry, so the upper
    // word is tid / 2 rounded up, 0 to 16.
    EXPECT_EQ(sectors("mad.lo.cc.u32 %r8, %r1, 0x80000000, 0x80000000; "
                      "madc.hi.u32 %r9, %r1, 0x80000000, 0;"),
              17u);
    // A carry that comes in goes out where all bits are set: 2^32 - 1 + 0 + carry.
    EXPECT_EQ(sectors("add.cc.u32 %r8, 0xFFFFFFFF, %r1; addc.cc.u32 %r7, 0xFFFFFFFF, 0; "
                      "addc.u32 %r9, 0, 0;"),
              2u);
    // The upper word of tid * 2^63 is tid / 2.
    EXPECT_EQ(sectors("cvt.u64.u32 %rd5, %r1; mul.hi.u64 %rd6, %rd5, 0x8000000000000000; "
                      "cvt.u32.u64 %r9, %rd6;"),
              16u);
}

// 40 of 256 threads have it: all threads count 40, some have it, not all.
TEST(Execution, of_barriers_that_ask_threads_answer_all_of_them) {
    const std::string ask = thread + "setp.lt.u32 %p1, %r1, 40;\n";
    const auto sectors = [&](const std::string& text) {
        return run(ptx_of(ask + text + "\n" + load_at_rd9), {1, 1, 1}, {256, 1, 1})[0]
            .global.sectors;
    };
    EXPECT_EQ(sectors("bar.red.popc.u32 %r2, 0, %p1; sub.u32 %r3, %r2, 36; "
                      "mul.wide.u32 %rd9, %r3, %r1;"),
              32u);  // 4 bytes apart
    const std::string quit = "mov.u64 %rd9, 0; @!%p2 exit;";
    EXPECT_EQ(sectors("barrier.cta.red.or.pred %p2, 0, %p1; " + quit), 8u);
    EXPECT_EQ(sectors("bar.red.and.pred %p2, 0, %p1; " + quit), 0u);
    EXPECT_EQ(sectors("bar.red.and.pred %p2, 0, 256, !%p1; " + quit), 0u);
}

}  // namespace
}  // namespace coalprof
