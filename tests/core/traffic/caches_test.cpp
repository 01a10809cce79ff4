// What L1 answers of a launch, and in which order blocks come to it.
#include <gtest/gtest.h>

#include <map>

#include "core/count/predict.h"
#include "core/pattern/catalog.h"
#include "core/sim/launch_order.h"
#include "core/traffic/block_replay.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/launches.h"
#include "core/traffic/touched_lines.h"

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

// Blocks of 8 warps, 4 bytes (or 124) off their lines. In order each warp but the first finds a
// sector of its first line, not the others: 16 requests; from the end all of it: 9. At 124 bytes it
// is the other way round. Of the 32 blocks looked at a quarter runs from the end. A warp has 5
// sectors. Measured on an H200 (48 MiB): 497,426 requests leave at 4 bytes off, 456,402 at 104.
TEST(CacheTraffic, of_a_block_comes_mostly_in_the_order_of_its_warps) {
    const Machine machine = find_machine("h200");
    const auto requests_of_sector = [&](std::uint64_t offset) {
        const Plan plan = plan_of("offset", offset, Op::load, 4 * mib);
        const ReplayedKind loads =
            replay_blocks(plan.program, order_of(plan), multiprocessor_of(machine, plan)).loads;
        return loads.requests / loads.sectors;
    };
    EXPECT_DOUBLE_EQ(requests_of_sector(1), (24.0 * 16 + 8 * 9) / (32 * 40));
    EXPECT_DOUBLE_EQ(requests_of_sector(31), (24.0 * 9 + 8 * 16) / (32 * 40));
}

// An H100 PCIe has the chip of the SXM, but nobody counted its launches.
TEST(Intervals, of_counters_are_wider_on_a_gpu_that_nobody_measured) {
    const auto highs = [](std::string_view board) {
        const Machine machine = find_machine(board);
        const Plan plan = plan_of("scatter", 64 * mib, Op::rmw, 16 * mib);
        Readings readings = Predictor(machine).predict_launch(plan, {});
        const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
        std::map<std::string_view, double> all;
        for (const Interval& one : estimates->intervals)
            all[info(one.counter).key] = one.high / number_in(readings[one.counter]);
        return all;
    };
    const auto measured = highs("h100");
    EXPECT_GE(measured.size(), 5u);
    for (const auto& [key, high] : highs("h100-pcie")) EXPECT_GT(high, measured.at(key)) << key;
}

}  // namespace
}  // namespace coalprof
