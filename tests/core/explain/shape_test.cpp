#include "core/explain/shape.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/explain/cases.h"
#include "core/explain/naive.h"
#include "fewer_cases.h"
#include "test_warps.h"

namespace coalprof {
namespace {

void expect_equal_to_naive(const WarpAccess& access) {
    const WarpShape shape = shape_of(access);
    const naive::Facts facts = naive::facts_of(access);
    ASSERT_EQ(shape.active_lanes, facts.lanes.size());
    EXPECT_EQ(shape.places, facts.lanes_at.size());
    EXPECT_EQ(shape.most_lanes_a_place, facts.most_lanes_at_one());
    EXPECT_EQ(shape.unique_bytes(), facts.bytes.size());
    EXPECT_EQ(shape.sectors, facts.sectors());
    EXPECT_EQ(shape.lines, facts.lines.size());
    EXPECT_EQ(shape.runs, facts.runs());
    EXPECT_EQ(shape.lanes_rise, std::is_sorted(facts.addresses.begin(), facts.addresses.end()));
    EXPECT_EQ(shape.distance_bytes.has_value(), facts.distances().size() == 1);
    if (shape.distance_bytes) {
        EXPECT_EQ(*shape.distance_bytes, *facts.distances().begin());
    }
    if (facts.lanes.empty()) return;
    EXPECT_EQ(shape.first_byte, *facts.bytes.begin());
    EXPECT_EQ(shape.least_used_bytes, *facts.used_counts().begin());
    EXPECT_EQ(shape.most_used_bytes, *facts.used_counts().rbegin());
}

TEST(WarpShape, equals_what_sets_of_bytes_say_for_random_warps) {
    explain_cases::RandomWarps warps(1);
    for (unsigned i = 0; i < 20000 / fewer_cases && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        expect_equal_to_naive(warps.next());
    }
}

TEST(WarpShape, of_no_active_lane_is_all_zeros) {
    const WarpShape shape = shape_of(spaced_warp(0, 4, 4, 0));
    EXPECT_EQ(shape.active_lanes, 0u);
    EXPECT_EQ(shape.sectors, 0u);
    EXPECT_EQ(shape.lines, 0u);
    EXPECT_FALSE(shape.distance_bytes);
    EXPECT_TRUE(touched_lines(spaced_warp(0, 4, 4, 0)).empty());
}

TEST(WarpShape, lanes_keep_their_distance_only_when_they_are_neighbours_in_one_direction) {
    EXPECT_TRUE(shape_of(spaced_warp(0, 8)).lanes_keep_distance);
    EXPECT_TRUE(shape_of(spaced_warp(4096, 0 - std::uint64_t{8})).lanes_keep_distance);
    EXPECT_TRUE(shape_of(spaced_warp(0, 8, 4, 0x00FF'FF00)).lanes_keep_distance);
    // Every other lane: the active ones are 16 bytes apart, but no neighbours.
    EXPECT_FALSE(shape_of(spaced_warp(0, 8, 4, 0x5555'5555)).lanes_keep_distance);
    EXPECT_EQ(shape_of(spaced_warp(0, 8, 4, 0x5555'5555)).distance_bytes, 16u);
    // Two lanes exchanged.
    WarpAccess exchanged = spaced_warp(0, 8);
    std::swap(exchanged.addresses[3], exchanged.addresses[4]);
    EXPECT_FALSE(shape_of(exchanged).lanes_keep_distance);
    EXPECT_EQ(shape_of(exchanged).distance_bytes, 8u);
}

TEST(TouchedLines, hold_every_active_lane_once_and_every_used_byte) {
    explain_cases::RandomWarps warps(2);
    for (int i = 0; i < 5000 && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = warps.next();
        const naive::Facts facts = naive::facts_of(access);
        std::uint32_t lanes = 0;
        std::uint64_t previous = 0;
        std::size_t sectors = 0;
        for (const TouchedLine& line : touched_lines(access)) {
            EXPECT_EQ(line.address % 128, 0u);
            EXPECT_TRUE(lanes == 0 || line.address > previous);
            previous = line.address;
            for (std::uint32_t s = 0; s < 4; ++s) {
                const TouchedSector& sector = line.sectors[s];
                EXPECT_EQ(lanes & sector.lanes, 0u) << "a lane in two sectors";
                lanes |= sector.lanes;
                if (sector.lanes == 0) continue;
                ++sectors;
                for (std::uint32_t byte = 0; byte < 32; ++byte)
                    EXPECT_EQ((sector.used_bytes >> byte & 1) != 0,
                              facts.bytes.count(line.address + 32 * s + byte) == 1);
            }
        }
        EXPECT_EQ(lanes, access.active_lanes);
        EXPECT_EQ(sectors, facts.sectors());
    }
}

// None is executed so; words and sectors that are not there stay untouched.
TEST(TouchedLines, end_an_access_with_its_sector) {
    for (const std::uint32_t width : {0u, 1u, 4u, 16u})
        for (std::uint64_t byte = 0; byte < sector_bytes; ++byte) {
            const auto lines = touched_lines(spaced_warp(byte, 0, width, 1));
            ASSERT_EQ(lines.size(), 1u);
            for (std::uint64_t word = 0; word < words_per_sector; ++word) {
                const bool is_touched = word >= byte / 4 && word * 4 < byte + width;
                EXPECT_EQ(lines[0].sectors[0].lanes_of_word[word], is_touched ? 1 : 0);
            }
            EXPECT_EQ(lines[0].sectors[1].lanes, 0u);
        }
}

// 8 lanes on each of 4 words: 8 on each word of the first half of the sector.
TEST(TouchedLines, count_the_lanes_on_each_four_bytes) {
    WarpAccess access = spaced_warp(0, 0);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] = lane / 8 * 4;
    const auto lines = touched_lines(access);
    ASSERT_EQ(lines.size(), 1u);
    const std::array<std::uint8_t, 8> expected{8, 8, 8, 8, 0, 0, 0, 0};
    EXPECT_EQ(lines[0].sectors[0].lanes_of_word, expected);
    // A 16-byte access lies on four words at once; two lanes of one byte share a word.
    EXPECT_EQ(touched_lines(spaced_warp(0, 16, 16))[0].sectors[1].lanes_of_word[7], 1);
    EXPECT_EQ(touched_lines(spaced_warp(0, 1, 1))[0].sectors[0].lanes_of_word[0], 4);
}

}  // namespace
}  // namespace coalprof
