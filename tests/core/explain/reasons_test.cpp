#include "core/explain/reasons.h"

#include <gtest/gtest.h>

#include "core/explain/cases.h"
#include "test_warps.h"

namespace coalprof {
namespace {

Reasons reasons_for(const WarpAccess& access, const char* machine = "h200") {
    return reasons_of(shape_of(access), explain_cases::purpose_of(access.kind),
                      Coalescer(*find_machine(machine).rules).count(access));
}

TEST(Reasons, an_aligned_row_is_used_in_full) {
    const Reasons reasons = reasons_for(spaced_warp(0, 4));
    EXPECT_EQ(reasons.cause, Cause::contiguous);
    EXPECT_EQ(reasons.why,
              "The 32 lanes read 128 contiguous bytes that begin at a sector boundary, so all 4 "
              "sectors are used in full.");
    EXPECT_EQ(reasons.mend, "Nothing to mend: 4 sectors are the fewest.");
}

// 11 floats are 44 bytes: 12 into the second sector.
TEST(Reasons, a_start_inside_a_sector_is_named_with_the_way_to_the_boundaries) {
    const Reasons reasons = reasons_for(spaced_warp(44, 4));
    EXPECT_EQ(reasons.cause, Cause::misaligned);
    EXPECT_EQ(reasons.why,
              "The 32 lanes read 128 contiguous bytes that begin 12 bytes into a sector, so they "
              "reach into 5 sectors where 4 would hold them.");
    EXPECT_EQ(reasons.mend,
              "Let the warp begin at a multiple of 32 bytes, 3 elements earlier or 5 later: then "
              "4 sectors hold it all.");
}

// At byte 32 of a line: 4 full sectors, but in two lines.
TEST(Reasons, a_row_on_two_lines_costs_an_l2_request_and_no_sector) {
    const Reasons reasons = reasons_for(spaced_warp(32, 4));
    EXPECT_EQ(reasons.cause, Cause::contiguous);
    EXPECT_EQ(reasons.why,
              "The 32 lanes read 128 contiguous bytes that begin at a sector boundary, so all 4 "
              "sectors are used in full. They lie in 2 lines, so L2 gets 2 requests where 1 would "
              "do.");
    EXPECT_EQ(reasons.mend,
              "Nothing to mend in the number of sectors; a start at a multiple of 128 bytes would "
              "save 1 L2 request.");
}

TEST(Reasons, a_stride_names_the_distance_and_what_each_sector_carries) {
    EXPECT_EQ(reasons_for(spaced_warp(0, 8)).why,
              "Neighbouring lanes are 8 bytes apart, so each 32-byte sector carries only 16 bytes "
              "that are used.");
    // 12-byte structures: bytes 0, 12, 24 of a sector make 3 elements, the next one has 3, then 2.
    EXPECT_EQ(reasons_for(spaced_warp(0, 12)).why,
              "Neighbouring lanes are 12 bytes apart, so each 32-byte sector carries at most 12 "
              "bytes that are used.");
    EXPECT_EQ(reasons_for(spaced_warp(0, 4096)).why,
              "Neighbouring lanes are 4096 bytes apart, so each 32-byte sector carries only 4 "
              "bytes that are used.");
}

TEST(Reasons, what_mends_a_stride_depends_on_the_distance) {
    EXPECT_NE(reasons_for(spaced_warp(0, 8)).mend.find("all 8 bytes in one wider access"),
              std::string::npos);
    EXPECT_NE(reasons_for(spaced_warp(0, 12)).mend.find("structure of arrays"), std::string::npos);
    EXPECT_NE(reasons_for(spaced_warp(0, 4096)).mend.find("exchange row and column"),
              std::string::npos);
}

TEST(Reasons, a_broadcast_has_nothing_to_mend_unless_it_stores) {
    EXPECT_EQ(reasons_for(spaced_warp(64, 0)).why,
              "All 32 lanes read the same 4 bytes, and one sector serves them all.");
    EXPECT_EQ(reasons_for(spaced_warp(64, 0)).mend, "Nothing to mend: one sector is the fewest.");
    EXPECT_EQ(reasons_for(spaced_warp(64, 0, 4, all_lanes, AccessKind::store)).mend,
              "Let one lane write: of several, which one's value stays is not defined.");
}

// All 32 lanes on one word: a packet takes one lane of a word, so 32 packets of one sector.
TEST(Reasons, lanes_on_one_word_are_an_atomics_trouble) {
    const Reasons reasons = reasons_for(spaced_warp(64, 0, 4, all_lanes, AccessKind::reduce));
    EXPECT_EQ(reasons.cause, Cause::same_word);
    EXPECT_EQ(reasons.why,
              "All 32 lanes update the same 4 bytes, and a packet to L2 takes only one of them, so "
              "the warp goes out in 32 packets with 32 sectors.");
}

// Lines 0 and 5 share a tag bank (the banks of lines 0 to 5 are 0 2 1 3 2 0). Lane 0 on
// line 0 word 0, lane 1 on line 5 word 0, lane 2 on line 5 word 1, lane 3 on line 0 word 1: lane 2
// is not held back, lane 1 waits for lane 0; leader lane 0 takes 0 and, as word 1 was seen at lane
// 2, not 3. Three packets for two lines.
TEST(Reasons, atomics_on_two_lines_hold_each_other_back_by_word_bank) {
    WarpAccess access = spaced_warp(0, 0, 4, 0xF, AccessKind::atomic);
    access.addresses[1] = 5 * 128;
    access.addresses[2] = 5 * 128 + 4;
    access.addresses[3] = 4;
    const Reasons reasons = reasons_for(access);
    EXPECT_EQ(reasons.cause, Cause::word_bank);
    EXPECT_EQ(reasons.why,
              "Lanes on different lines whose words meet in one of the 32 word banks hold each "
              "other back, so the warp goes out in 3 packets where its 2 lines would need one "
              "each.");
    EXPECT_EQ(reasons_for(access, "8.0").cause, Cause::unknown_packets);
}

TEST(Reasons, idle_lanes_are_said) {
    EXPECT_EQ(reasons_for(spaced_warp(0, 4, 4, 0x000F'FFFF)).why,
              "The 20 active lanes read 80 contiguous bytes, which no place in memory could hold "
              "in fewer than 3 sectors.");
    EXPECT_EQ(reasons_for(spaced_warp(0, 4, 4, 0x00FF'FFFF)).mend,
              "Nothing to mend in the sectors; 8 idle lanes could be put to work.");
    EXPECT_EQ(reasons_for(spaced_warp(0, 4, 4, 1)).why,
              "The one active lane reads 4 bytes of one sector.");
    EXPECT_EQ(reasons_for(spaced_warp(0, 4, 4, 0)).cause, Cause::no_lanes);
}

TEST(Reasons, the_order_of_lanes_is_said_to_cost_nothing) {
    WarpAccess reversed = spaced_warp(124, 0 - std::uint64_t{4});
    EXPECT_EQ(reasons_for(reversed).why,
              "The 32 lanes read 128 contiguous bytes that begin at a sector boundary, so all 4 "
              "sectors are used in full. The lanes are not in order of address, which costs no "
              "sector.");
}

}  // namespace
}  // namespace coalprof
