#include "core/count/near_memory.h"

#include <gtest/gtest.h>

#include "core/machine/machine.h"

namespace coalprof {
namespace {

// Lane n is at element n * step of its own array.
WarpAccess elements(std::uint32_t width, std::uint64_t step) {
    WarpAccess access;
    access.space = Space::local;
    access.width_bytes = width;
    access.active_lanes = all_lanes;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = lane * step * width;
    return access;
}

LocalCounts counts(std::string_view machine, const WarpAccess& access) {
    return LocalMemory(*find_machine(machine).rules).count(access);
}

// One element of 4 bytes for 32 threads is one line of 128 bytes: 4 sectors.
TEST(LocalMemory, at_one_index_is_coalesced_on_every_machine) {
    for (const Rules& rules : all_rules())
        EXPECT_EQ(LocalMemory(rules).count(elements(4, 0)).sectors, 4u) << text_of(rules.cc);
}

// Every lane in a row of its own: 32 sectors, and on Fermi 32 lines of 4 sectors.
TEST(LocalMemory, at_32_indices_scatters) {
    EXPECT_EQ(counts("h200", elements(4, 1)).sectors, 32u);
    EXPECT_EQ(counts("gtx1080", elements(4, 1)).sectors, 32u);
    EXPECT_EQ(counts("c2050", elements(4, 1)).sectors, 128u);
    EXPECT_EQ(counts("k40", elements(4, 1)).sectors, 128u);
    // L1 of 3.0 keeps no global loads, but local ones.
    EXPECT_EQ(counts("3.0", elements(4, 1)).sectors, 128u);
    EXPECT_EQ(counts("c1060", elements(4, 1)).sectors, 32u);
}

// Elements of 8 and 16 bytes are 2 and 4 rows of words.
TEST(LocalMemory, of_wide_elements_takes_a_row_per_word) {
    EXPECT_EQ(counts("h200", elements(8, 0)).sectors, 8u);
    EXPECT_EQ(counts("h200", elements(16, 0)).sectors, 16u);
    EXPECT_EQ(counts("h200", elements(8, 1)).sectors, 64u);
}

// Bytes 0 of all lanes: each in its thread's word, so the warp still spans its 128-byte row.
TEST(LocalMemory, of_bytes_still_spans_the_row) {
    EXPECT_EQ(counts("h200", elements(1, 0)).sectors, 4u);
    EXPECT_EQ(counts("h200", elements(2, 0)).sectors, 4u);
}

TEST(LocalMemory, asks_once_per_instruction_on_every_machine) {
    for (const Rules& rules : all_rules())
        EXPECT_EQ(LocalMemory(rules).count(elements(16, 0)).requests, 1u) << text_of(rules.cc);
    EXPECT_EQ(counts("h200", WarpAccess{}).requests, 0u);
}

// Lane n reads word n % distinct.
WarpAccess words_of(std::uint64_t distinct) {
    WarpAccess access;
    access.space = Space::constant;
    access.active_lanes = all_lanes;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = lane % distinct * 4;
    return access;
}

std::uint64_t requests(std::string_view machine, const WarpAccess& access) {
    return ConstantMemory(*find_machine(machine).rules).count(access).requests;
}

TEST(ConstantMemory, takes_one_pass_per_distinct_address) {
    for (const std::uint64_t k : {1u, 2u, 5u, 16u, 32u})
        EXPECT_EQ(requests("h200", words_of(k)), k) << k;
}

// 1.x splits the warp into half-warps first: each has min(k, 16) addresses of its own.
TEST(ConstantMemory, of_tesla_is_read_by_half_warps) {
    EXPECT_EQ(requests("c870", words_of(1)), 2u);
    EXPECT_EQ(requests("c1060", words_of(4)), 8u);
    EXPECT_EQ(requests("c1060", words_of(32)), 32u);
}

TEST(ConstantMemory, does_not_ask_for_inactive_lanes) {
    WarpAccess access = words_of(32);
    access.active_lanes = 0b1011;
    EXPECT_EQ(requests("h200", access), 3u);
    access.active_lanes = 0;
    EXPECT_EQ(requests("h200", access), 0u);
}

TEST(ConstantMemory, counts_addresses_in_any_order) {
    WarpAccess access = words_of(32);
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = (lane * 7 + 3) % 5 * 64;
    EXPECT_EQ(requests("h200", access), 5u);
}

// 16 bytes are two loads of 8 (two LDC.64 in the code of ptxas 13.0, 7.5 to 12.1).
TEST(ConstantMemory, takes_two_loads_for_16_bytes) {
    WarpAccess access = words_of(4);
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] *= 4;
    access.width_bytes = 8;
    EXPECT_EQ(requests("h200", access), 4u);
    access.width_bytes = 16;
    EXPECT_EQ(requests("h200", access), 8u);
}

}  // namespace
}  // namespace coalprof
