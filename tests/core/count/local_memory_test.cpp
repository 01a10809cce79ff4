#include "core/count/local_memory.h"

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

}  // namespace
}  // namespace coalprof
