// Stores and updates that gather on a few lines, measured launch by measured launch
// (tests/data/h100/gathered.jsonl.gz and others).
#include <gtest/gtest.h>

#include "core/pattern/catalog.h"
#include "core/traffic/launches.h"

namespace coalprof {
namespace {

// Stores to 16 lines go on joining while the slices of L2 that have the lines are busy. Measured on
// an H100: 382,665 requests of 786,432 warps, with nearly all four sectors of a line (1,436,810).
TEST(CacheTraffic, of_stores_to_few_lines_leaves_as_many_as_their_slices_serve) {
    const Plan plan =
        shaped(plan_of("scatter", 2 << 10, Op::store, 96 * mib), ElementType::f32, 1024);
    const CacheTraffic traffic = caches_of(plan);
    EXPECT_NEAR(traffic.l2_write_requests, 382'665, 0.15 * 382'665);
    EXPECT_NEAR(traffic.l2_write_sectors, 4 * traffic.l2_write_requests,
                0.05 * 4 * traffic.l2_write_requests);
}

// Measured on an H200: 11,604 requests of 16,384 warps, to four lines each. On an H100, two lines:
// 212,714 of 2,097,152 warps (u8, four elements); if each store were a request of its own for each
// line 4.19 million would leave.
TEST(CacheTraffic, of_stores_to_the_fewest_lines_joins_as_others_do) {
    const Plan wide = shaped(plan_of("scatter", 512, Op::store, 4 * mib), ElementType::f32x2, 512);
    EXPECT_NEAR(caches_of(wide).l2_write_requests, 11'604, 0.1 * 11'604);
    const Plan two = shaped(plan_of("scatter", 256, Op::store, 64 * mib, 4), ElementType::u8, 256);
    EXPECT_NEAR(caches_of(two).l2_write_requests, 212'714, 0.25 * 212'714);
}

// Measured on an H100: 512 requests of 128 blocks, each on a multiprocessor of its own, to four
// lines; each block of 8 warps and two elements sends each line once. A warp alone sends all.
TEST(CacheTraffic, of_stores_to_few_lines_leaves_each_of_a_block_once) {
    const Plan plan = shaped(plan_of("scatter", 512, Op::store, mib / 4, 2), ElementType::f32, 256);
    EXPECT_NEAR(caches_of(plan).l2_write_requests, 512, 0.02 * 512);
    const Plan warp = shaped(plan_of("scatter", 2 << 10, Op::store, 128), ElementType::f32, 32);
    const CacheTraffic traffic = caches_of(warp);
    EXPECT_EQ(traffic.joined_write_requests, 0);
}

// Measured on an H100, requests of each of 132 multiprocessors: of 16 lines 572 of stores and 249
// of loads, of 4 lines 417 and 119. What joins is chance: half of such launches are within a factor
// of 1.4 of what is fitted to them. On an H200 3,946,673 sectors are stored to eight lines.
TEST(CacheTraffic, of_updates_of_few_lines_joins_those_that_wait) {
    const auto of_region = [](std::uint64_t region, std::uint64_t bytes) {
        return caches_of(shaped(plan_of("scatter", region, Op::rmw, bytes), ElementType::f32, 256));
    };
    const CacheTraffic many = of_region(2 << 10, 4 * mib);
    EXPECT_NEAR(many.l2_write_requests, 572 * 132, 0.4 * 572 * 132);
    EXPECT_NEAR(many.l2_read_requests, 249 * 132, 0.5 * 249 * 132);
    const CacheTraffic few = of_region(512, 16 * mib);
    EXPECT_NEAR(few.l2_write_requests, 417 * 132, 0.4 * 417 * 132);
    EXPECT_NEAR(few.l2_read_requests, 119 * 132, 0.5 * 119 * 132);
    const Plan eight = shaped(plan_of("scatter", 1024, Op::rmw, 96 * mib), ElementType::f32, 128);
    EXPECT_LT(caches_of(eight).l2_write_sectors, 3'946'673);
}

// Measured on an H200: 1,993 sectors of 3,602; 1,990 are predicted. These blocks start together.
TEST(CacheTraffic, of_updates_that_start_together_finds_none_that_wait) {
    Plan plan = shaped(plan_of("scatter", 512, Op::rmw, mib / 16), ElementType::f64, 512);
    plan.cache.dlcm = LoadModifier::cg;
    EXPECT_NEAR(caches_of(plan).l2_write_sectors, 1'993, 0.1 * 1'993);
}

// Measured (H100): 608 us of stores to two lines, which lie in one slice of L2; 105 us of updates
// of 16, in four slices. Before stores to two lines joined, 24 times as much was predicted.
TEST(Duration, of_what_gathers_on_few_lines_is_what_their_slices_take) {
    const Plan stores =
        shaped(plan_of("scatter", 256, Op::store, 64 * mib, 4), ElementType::u8, 256);
    EXPECT_NEAR(launch_seconds(stores, "h100", CacheState::cold), 608e-6, 0.25 * 608e-6);
    const Plan updates =
        shaped(plan_of("scatter", 2 << 10, Op::rmw, 4 * mib), ElementType::f32, 256);
    EXPECT_NEAR(launch_seconds(updates, "h100", CacheState::cold), 105e-6, 0.3 * 105e-6);
}

// Measured (H100): 68 us of updates of 128 lines by blocks that just fill the multiprocessors; 26
// are predicted if they wait only for those of earlier waves.
TEST(Duration, of_updates_at_random_waits_within_a_full_wave) {
    const Plan plan = shaped(plan_of("scatter", 16 << 10, Op::rmw, mib), ElementType::f32, 256);
    EXPECT_NEAR(launch_seconds(plan, "h100", CacheState::cold), 68e-6, 0.3 * 68e-6);
}

}  // namespace
}  // namespace coalprof
