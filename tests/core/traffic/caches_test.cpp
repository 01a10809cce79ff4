// What L1 answers of a launch, and in which order blocks come to it.
#include <gtest/gtest.h>

#include <map>

#include "core/model/predict.h"
#include "core/pattern/catalog.h"
#include "core/traffic/block_replay.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/launch_order.h"
#include "core/traffic/launches.h"
#include "core/traffic/sector_cache.h"

namespace coalprof {
namespace {

// Whatever the order, every index is taken once: 64 blocks of 256 threads with 4 elements each, 32
// blocks in turn.
TEST(LaunchOrder, takes_every_index_once) {
    const LaunchOrder order = order_of(plan_of("offset", 0, Op::load, 256 << 10, 4));
    EXPECT_EQ(order.blocks, 64u);
    EXPECT_EQ(order.blocks_in_turn, 32u);
    std::map<std::uint64_t, int> taken;
    for (std::uint64_t block = 0; block < order.blocks; ++block)
        for (std::uint32_t element = 0; element < order.per_thread; ++element)
            for (std::uint32_t warp = 0; warp < order.block_warps(); ++warp) {
                EXPECT_EQ(order.lanes_of(block, element, warp), 32u);
                ++taken[order.first_index(block, element) + 32 * warp];
            }
    EXPECT_EQ(taken.size(), 65'536u / 32);
    EXPECT_EQ(taken.rbegin()->first, 65'536u - 32);
}

// 2 KiB are 16 lines. A seventeenth one pushes out the oldest.
TEST(SectorCache, holds_what_fits_and_forgets_the_oldest_line) {
    SectorCache cache(2048);
    for (std::uint64_t line = 0; line < 16; ++line) EXPECT_EQ(cache.touch(line, 1), 0u);
    EXPECT_EQ(cache.touch(0, 3), 1u);  // one sector of the two
    EXPECT_EQ(cache.touch(99, 1), 0u);
    EXPECT_EQ(cache.touch(1, 1), 0u);
    EXPECT_EQ(cache.touch(0, 3), 3u);
}

TEST(SectorCache, has_room_for_what_is_stored_but_not_its_sectors) {
    SectorCache cache(2048);
    EXPECT_EQ(cache.touch(0, 3), 0u);
    cache.store(0, 1);
    EXPECT_EQ(cache.touch(0, 3), 2u);
    for (std::uint64_t line = 1; line < 17; ++line) cache.store(line, 1);
    EXPECT_EQ(cache.touch(0, 3), 0u);
}

// Measured on an H200: 28,673 to 28,675 hits. Each of 4096 blocks has 8 warps; the last sector of a
// warp is the first of the next one: 7 of each block's 40 sectors hit.
TEST(CacheTraffic, of_a_misaligned_load_hits_once_for_each_pair_of_neighbouring_warps) {
    const Plan plan = plan_of("offset", 1, Op::load, 4 * mib);
    const Machine machine = find_machine("h200");
    const LaunchOrder order = order_of(plan);
    const Replayed replayed = replay_blocks(plan.program, order, multiprocessor_of(machine, plan));
    EXPECT_TRUE(replayed.is_near);
    const CacheTraffic traffic =
        cache_traffic(Predictor(machine).predict_launch(plan, {}), replayed, order, Loading{});
    EXPECT_EQ(traffic.l1_hit_sectors, 4096 * 7);
}

// Measured on an H200 (scatter of f32, 96 MiB, region 16 KiB): each of 132 multiprocessors fetches
// the 512 sectors once, 67,584 in all, and everything else hits.
TEST(CacheTraffic, of_a_table_that_fits_l1_is_one_fetch_for_each_multiprocessor) {
    Plan plan = plan_of("scatter", 16 << 10, Op::load, 8 * mib);
    const Machine machine = find_machine("h200");
    const Replayed replayed =
        replay_blocks(plan.program, order_of(plan), multiprocessor_of(machine, plan));
    EXPECT_FALSE(replayed.is_near);
    const double missed = replayed.loads.sectors - replayed.loads.hit_sectors;
    EXPECT_EQ(static_cast<int>(missed) % 512, 0);
}

// Measured on an H200: 261,812. Each of 132 multiprocessors fetches the 2048 sectors once, 270,336
// in all. Of its 1986 blocks only the first ones are replayed, and the misses of these come once,
// not ten times.
TEST(CacheTraffic, of_a_sample_does_not_repeat_its_cold_start) {
    Plan plan = plan_of("scatter", 64 << 10, Op::load, 1024 * mib);
    plan.type = ElementType::f32x2;
    plan.shape.block = 512;
    build_program(plan);
    EXPECT_NEAR(caches_of(plan).l2_read_sectors, 261'812, 0.05 * 261'812);
}

// Measured on an H200: 4,197,888 hits. Two 16-bit words of a thread are a column apart, in one
// sector; the 2048 lines of the resident blocks just fill L1, which holds them for the second word
// only if a block asks for it before the others have come.
TEST(CacheTraffic, of_a_thread_has_its_second_element_while_the_first_is_held) {
    const Plan plan = shaped(plan_of("column", 8192, Op::load, 16 * mib, 2), ElementType::u16, 256);
    EXPECT_NEAR(caches_of(plan).l1_hit_sectors, 4'197'888, 0.01 * 4'197'888);
}

// Measured on an H200: 14,488 sectors. 16,384 are asked for by blocks of two warps, four of which
// share each sector. Pairs of neighbours a round number of blocks apart would all be the last of
// one sector and the first of another: 16,297.
TEST(CacheTraffic, of_patterns_that_repeat_every_few_blocks_is_not_told_from_one_place_of_them) {
    const Plan plan = shaped(plan_of("broadcast", 32, Op::rmw, 4 * mib, 2), ElementType::f32, 64);
    EXPECT_NEAR(caches_of(plan).l2_read_sectors, 14'488, 0.08 * 14'488);
}

// Measured on an H100: 2.18 million requests. A store takes what it writes out of L1: without that
// every second load of a place would hit.
TEST(CacheTraffic, of_loads_misses_what_was_stored_meanwhile) {
    const Plan plan = formula_of("i % K", 204'717, Op::rmw, ElementType::f32x4, 256 * mib, 512);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 2'184'852, 0.1 * 2'184'852);
}

// Measured on an H200: 2,925,237 of 7,899,701 sectors of 8 KiB hit. If all blocks of a wave loaded
// before one of them stores, 7.4 million would.
TEST(CacheTraffic, of_loads_misses_what_blocks_that_end_store) {
    const Plan plan = shaped(plan_of("scatter", 8192, Op::rmw, 64 * mib, 2), ElementType::f64, 256);
    EXPECT_NEAR(caches_of(plan).l1_hit_sectors, 2'925'237, 0.4 * 2'925'237);
}

// Measured on an H200: 13,551,885 sectors of 256 KiB hit. If stores took no room in L1 19.5 million
// would.
TEST(CacheTraffic, of_loads_shares_l1_with_what_is_stored) {
    const Plan plan =
        shaped(plan_of("scatter", 256 << 10, Op::copy, 96 * mib), ElementType::f32, 128);
    EXPECT_NEAR(caches_of(plan).l1_hit_sectors, 13'551'885, 0.2 * 13'551'885);
}

// Measured on an H100: 2,852 requests for pointers of rows of 62,368 bytes. The next block of a
// multiprocessor finds them in L1.
TEST(CacheTraffic, of_pointers_hits_what_the_block_before_fetched) {
    const Plan plan =
        shaped(plan_of("indirect", 62'368, Op::store, 16 * mib), ElementType::f32x2, 64);
    EXPECT_GT(caches_of(plan).l1_hit_sectors, 40'000);
}

}  // namespace
}  // namespace coalprof
