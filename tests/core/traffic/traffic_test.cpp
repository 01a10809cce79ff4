// The rooms of core/traffic, one claim at a time, on launches whose numbers follow by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "core/formula/formula.h"
#include "core/model/predict.h"
#include "core/pattern/catalog.h"
#include "core/traffic/block_replay.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/dram_traffic.h"
#include "core/traffic/duration.h"
#include "core/traffic/estimate.h"
#include "core/traffic/launch_order.h"
#include "core/traffic/reach.h"
#include "core/traffic/sector_cache.h"
#include "test_data.h"

namespace coalprof {
namespace {

constexpr std::uint64_t mib = 1 << 20;

Plan plan_of(const std::string& pattern, std::uint64_t value, Op op, std::uint64_t size_bytes,
             std::uint32_t per_thread = 1) {
    Plan plan;
    plan.pattern = pattern;
    plan.value = value;
    plan.op = op;
    plan.shape.size_bytes = size_bytes;
    plan.shape.per_thread = per_thread;
    build_program(plan);
    return plan;
}

Reach reach_of_loads(const Plan& plan) {
    std::vector<const Instruction*> loads;
    for (const Instruction& one : plan.program.instructions)
        if (one.kind == AccessKind::load && one.array == 0) loads.push_back(&one);
    return reach_of(plan.program, loads);
}

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

// 2^20 floats 33 apart: 132 bytes, so that each has a sector, a fetch and, but for those whose
// neighbour 132 bytes on lies in the same line (none: 132 > 128), a line of its own.
TEST(Reach, of_a_wide_stride_is_a_unit_for_each_element) {
    const Reach reach = reach_of_loads(plan_of("stride", 33, Op::load, 4 * mib));
    EXPECT_NEAR(reach.units[0], 1 << 20, 2);
    EXPECT_NEAR(reach.units[1], 1 << 20, 2);
    EXPECT_NEAR(reach.units[2], 1 << 20, 2);
    EXPECT_EQ(reach.accesses, 1 << 20);
}

// A matrix read column by column is read whole: 4 MiB are 2^17 sectors. A period, one column of
// 4096 rows, has a sector of each row.
TEST(Reach, of_columns_is_the_matrix_and_of_one_of_them_a_sector_a_row) {
    const Reach reach = reach_of_loads(plan_of("column", 1024, Op::load, 4 * mib));
    EXPECT_EQ(reach.units[0], 4 * mib / 32);
    EXPECT_EQ(reach.units[2], 4 * mib / 128);
    EXPECT_EQ(reach.of_period[0], 4096);
    EXPECT_EQ(reach.periods, 256);
}

// n draws from m sectors leave m * exp(-n / m) of them untouched: of 2^21 sectors (64 MiB) 2^22
// draws reach 1 - exp(-2) = 86.5 %.
TEST(Reach, of_a_scatter_is_told_from_samples) {
    const Reach reach = reach_of_loads(plan_of("scatter", 64 * mib, Op::load, 16 * mib));
    EXPECT_TRUE(reach.at_random);
    EXPECT_NEAR(reach.units[0] / (1 << 21), 0.865, 0.02);
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
        cache_traffic(Predictor(machine).predict_launch(plan, {}), replayed, order, true);
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

CacheTraffic caches_of(const Plan& plan) {
    const Machine machine = find_machine("h200");
    const LaunchOrder order = order_of(plan);
    const Multiprocessor one = multiprocessor_of(machine, plan);
    return cache_traffic(Predictor(machine).predict_launch(plan, {}),
                         replay_blocks(plan.program, order, one), order, one.keeps_loads);
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

Plan shaped(Plan plan, ElementType type, std::uint32_t block) {
    plan.type = type;
    plan.shape.block = block;
    build_program(plan);
    return plan;
}

// Measured on an H200: 4,197,888 hits. Two 16-bit words of a thread are a column apart, in one
// sector; the 2048 lines of the resident blocks just fill L1, which holds them for the second word
// only if a block asks for it before the others have come.
TEST(CacheTraffic, of_a_thread_has_its_second_element_while_the_first_is_held) {
    const Plan plan = shaped(plan_of("column", 8192, Op::load, 16 * mib, 2), ElementType::u16, 256);
    EXPECT_NEAR(caches_of(plan).l1_hit_sectors, 4'197'888, 0.01 * 4'197'888);
}

// Measured on an H200: 10,471,492 requests of 10,485,773. A warp touches 10 lines, of which it
// shares the last with the next warp; with 4 elements a thread 40 lines lie in between.
TEST(CacheTraffic, of_neighbouring_warps_joins_nothing_behind_all_loads_of_a_warp) {
    const Plan plan = shaped(plan_of("stride", 19, Op::rmw, 64 * mib, 4), ElementType::u16, 256);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 10'471'492, 0.005 * 10'471'492);
}

// Measured on an H200: 14,488 sectors. 16,384 are asked for by blocks of two warps, four of which
// share each sector. Pairs of neighbours a round number of blocks apart would all be the last of
// one sector and the first of another: 16,297.
TEST(CacheTraffic, of_patterns_that_repeat_every_few_blocks_is_not_told_from_one_place_of_them) {
    const Plan plan = shaped(plan_of("broadcast", 32, Op::rmw, 4 * mib, 2), ElementType::f32, 64);
    EXPECT_NEAR(caches_of(plan).l2_read_sectors, 14'488, 0.08 * 14'488);
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

// Measured on an H200: 4,194,304 requests of 10,485,760 sectors, each warp's own, though warps
// share sectors; of loads that find the row of an index, where whole warps ask for the same
// word, 2.33 million of 2.80.
TEST(CacheTraffic, of_loads_past_l1_joins_only_those_of_the_very_same_sectors) {
    Plan offset = shaped(plan_of("offset", 37, Op::load, 256 * mib), ElementType::f32, 512);
    offset.cache.dlcm = LoadModifier::cg;
    EXPECT_EQ(std::round(caches_of(offset).l2_read_requests), 4'194'304);
    EXPECT_NEAR(caches_of(offset).l2_read_sectors, 10'485'760, 0.001 * 10'485'760);
    Plan indirect = plan_of("indirect", 284, Op::load, 64 * mib);
    indirect.value = 282;
    indirect = shaped(indirect, ElementType::u16, 512);
    indirect.cache.dlcm = LoadModifier::cg;
    EXPECT_NEAR(caches_of(indirect).l2_read_requests, 2'333'105, 0.08 * 2'333'105);
}

// Measured on an H200: 16,709 requests of 32,768 warps, four of which load and store one line; and
// 452,504 of 524,288 where pairs of warps store to one line what came from lines of their own.
TEST(CacheTraffic, of_stores_joins_those_of_warps_that_waited_for_the_same_line) {
    const Plan same = shaped(plan_of("soa", 4, Op::rmw, 1 * mib, 2), ElementType::u8, 512);
    EXPECT_NEAR(caches_of(same).l2_write_requests, 16'709, 0.15 * 16'709);
    const Plan apart = shaped(plan_of("stride", 3, Op::copy, 32 * mib), ElementType::u16, 64);
    EXPECT_NEAR(caches_of(apart).l2_write_requests, 452'504, 0.15 * 452'504);
}

// Measured on an H200: 78,552 requests of 131,014 warps, of which most waited for the pointer to
// one row, then for the row. As if they had waited once, 67,160 would leave.
TEST(CacheTraffic, of_stores_joins_fewer_of_warps_that_waited_more_than_once) {
    const Plan plan = shaped(plan_of("indirect", 2852, Op::copy, 4 * mib), ElementType::u8, 256);
    EXPECT_NEAR(caches_of(plan).l2_write_requests, 78'552, 0.1 * 78'552);
}

// Measured on an H200: stores to random floats of 16 lines leave as 69,600 requests of 262,144
// warps, as those of a multiprocessor wait until lines are whole; of 64 lines one in five joins
// another (5.40 million requests), and of 64 lines of 16-bit words next to none: 24.67 of 25.3 a
// warp.
TEST(CacheTraffic, of_stores_to_few_lines_joins_those_that_wait) {
    const auto requests = [](std::uint64_t region, ElementType type, std::uint64_t bytes) {
        Plan plan = plan_of("scatter", region, Op::store, bytes);
        plan.type = type;
        build_program(plan);
        return caches_of(plan).l2_write_requests;
    };
    EXPECT_LT(requests(2 << 10, ElementType::f32, 32 * mib), 3 * 69'600);
    EXPECT_NEAR(requests(8 << 10, ElementType::f32, 32 * mib), 5.40e6, 0.1 * 5.40e6);
    EXPECT_NEAR(requests(8 << 10, ElementType::u16, 48 * mib), 24.67 * 786'432,
                0.02 * 24.67 * 786'432);
}

Plan formula_of(const std::string& text, std::int64_t value, Op op, ElementType type,
                std::uint64_t bytes, std::uint32_t block, std::uint32_t per_thread = 1) {
    Plan plan = shaped(plan_of("offset", 0, op, bytes, per_thread), type, block);
    plan.program =
        make_formula_program(std::make_shared<ParsedFormula>(parse_formula(text, {"K"})),
                             {.op = op, .type = type, .shape = plan.shape, .values = {value}});
    return plan;
}

// Warps at most as many as schedulers store in step. Measured, requests: 263,248 of u8 in blocks of
// 128 threads (H100), where all join that could; 986,619 of f32 in blocks of 256 (H200), 345,640
// in blocks of 512 (H100), where warps of a scheduler take turns.
TEST(CacheTraffic, of_stores_joins_warps_that_run_in_step) {
    const auto requests = [](std::uint64_t offset, ElementType type, std::uint32_t block,
                             std::uint64_t bytes) {
        const Plan plan = shaped(plan_of("offset", offset, Op::store, bytes), type, block);
        return caches_of(plan).l2_write_requests;
    };
    EXPECT_NEAR(requests(15, ElementType::u8, 128, 16 * mib), 263'248, 0.02 * 263'248);
    EXPECT_NEAR(requests(60, ElementType::f32, 256, 96 * mib), 986'619, 0.06 * 986'619);
    EXPECT_NEAR(requests(107, ElementType::f32, 512, 32 * mib), 345'640, 0.06 * 345'640);
}

Plan stores_in_groups(std::uint64_t lanes, ElementType type, std::uint32_t block,
                      std::uint64_t bytes, std::uint32_t per_thread = 1) {
    return shaped(plan_of("broadcast", lanes, Op::store, bytes, per_thread), type, block);
}

// A request joins the one before it alone. Measured on an H200, requests for each of 8,192 lines
// that the 32 warps of a block store to: 2.03; for each of 32,768 that 8 warps of it do, with other
// lines' in between, 2.22.
TEST(CacheTraffic, of_stores_of_a_block_to_one_line_joins_nearly_all) {
    const auto requests = [](std::uint64_t lanes) {
        const Plan plan = stores_in_groups(lanes, ElementType::f32, 1024, 32 * mib);
        return caches_of(plan).l2_write_requests;
    };
    EXPECT_LT(requests(32), 2.6 * 8'192);
    EXPECT_NEAR(requests(8), 72'694, 0.2 * 72'694);
}

// Measured: of 64 MiB of u16 in blocks of 128 threads every line is one request (1.02, H200); of
// 256 KiB of f32, all of whose blocks start with the launch, 1.84 of the 2 that touch a line.
TEST(CacheTraffic, of_stores_that_start_with_the_launch_joins_less) {
    const auto share = [](ElementType type, std::uint64_t bytes) {
        const Plan plan = stores_in_groups(2, type, 128, bytes);
        const CacheTraffic traffic = caches_of(plan);
        return traffic.l2_write_requests /
               (traffic.l2_write_requests + traffic.joined_write_requests);
    };
    EXPECT_NEAR(share(ElementType::u16, 64 * mib), 0.254, 0.02);
    EXPECT_GT(share(ElementType::f32, mib / 4), 0.6);
}

// Measured on an H100: 294,159 requests. The 32 warps of a block store to the same five lines,
// which are there until most have come; 2.6 million would leave if each joined only the one before
// it.
TEST(CacheTraffic, of_stores_of_several_lines_joins_those_that_wait) {
    const Plan plan =
        formula_of("lane*K + i/32", 4, Op::store, ElementType::f32, 64 * mib, 1024, 4);
    EXPECT_LT(caches_of(plan).l2_write_requests, 2 * 294'159);
}

// Measured on an H100: 2.18 million requests. A store takes what it writes out of L1: without that
// every second load of a place would hit.
TEST(CacheTraffic, of_loads_misses_what_was_stored_meanwhile) {
    const Plan plan = formula_of("i % K", 204'717, Op::rmw, ElementType::f32x4, 256 * mib, 512);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 2'184'852, 0.1 * 2'184'852);
}

// Measured on an H100: 2,852 requests for pointers of rows of 62,368 bytes. The next block of a
// multiprocessor finds them in L1.
TEST(CacheTraffic, of_pointers_hits_what_the_block_before_fetched) {
    const Plan plan =
        shaped(plan_of("indirect", 62'368, Op::store, 16 * mib), ElementType::f32x2, 64);
    EXPECT_GT(caches_of(plan).l1_hit_sectors, 40'000);
}

// Measured on an H200: 7,251 requests. Up to 8,192 leave where none joins; by the rate at which
// they join later in a long launch 5,879 would, but these blocks all start at once.
TEST(CacheTraffic, of_blocks_that_start_together_joins_less) {
    const Plan plan = shaped(plan_of("offset", 34, Op::add, mib / 4), ElementType::f32, 128);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 7'251, 0.08 * 7'251);
}

// Measured on an H100: 61,200 requests, of 67,000 warps that find the line of an 8-byte word. Five
// blocks share each sector, and what meets on the way is a request less.
TEST(CacheTraffic, of_sectors_that_meet_on_the_way_to_l2_is_a_request_less) {
    const Plan plan = formula_of("i/K", 78, Op::copy, ElementType::f64, 32 * mib, 64);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 61'200, 0.05 * 61'200);
}

// A number that the text spells out is multiplied by or shifted. One that divides keeps the warps
// of a large block apart: 8,192 sectors of a launch of one wave are 6,226 requests (H200).
TEST(CacheTraffic, of_warps_that_divide_joins_less) {
    const auto divides_in = [](const std::string& text) {
        const Plan plan = formula_of(text, 4, Op::load, ElementType::f32, mib, 256);
        return divides(plan.program.instructions.front().formula);
    };
    EXPECT_TRUE(divides_in("i / K"));
    EXPECT_TRUE(divides_in("a[i] if i % K == 0"));
    EXPECT_FALSE(divides_in("i / 32 * K"));
    EXPECT_FALSE(divides(plan_of("offset", 1, Op::load, mib).program.instructions[0].formula));
    EXPECT_TRUE(divides(plan_of("broadcast", 8, Op::load, mib).program.instructions[0].formula));
    const auto requests = [](const std::string& text) {
        return caches_of(formula_of(text, 19, Op::load, ElementType::u8, mib / 4, 512))
            .l2_read_requests;
    };
    EXPECT_GT(requests("a[i] if i % K == 0"), 1.05 * requests("a[i] if i % 19 == 0"));
}

DramTraffic dram_of(const Plan& plan, bool is_warm = false) {
    const std::vector<ArrayReach> arrays = reaches_of(plan.program);
    return dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .is_warm = is_warm}, L2Shares{});
}

// L2 fetches 64 bytes for each float: 16 MiB of floats, 64 bytes apart and more, come as 256 MiB.
TEST(DramTraffic, of_a_sparse_load_is_a_fetch_for_each_element) {
    EXPECT_NEAR(dram_of(plan_of("stride", 20, Op::load, 16 * mib)).read.bytes, 256.0 * mib, mib);
}

// Whole sectors are not read before they are written; what L2 keeps dirty (28.5 MiB of 60) is not
// written while the launch runs. Measured on an H200: 28.4 MiB left.
TEST(DramTraffic, of_whole_sectors_stored_is_what_l2_cannot_keep) {
    const DramTraffic dram = dram_of(plan_of("offset", 0, Op::store, 256 * mib));
    EXPECT_EQ(dram.read.bytes, 0);
    EXPECT_NEAR(dram.write.bytes / mib, 256 - 28.5, 0.5);
}

// Sectors stored in part are read to complete them: about as many bytes as are written.
TEST(DramTraffic, of_parts_of_sectors_stored_is_read_as_well) {
    const DramTraffic dram = dram_of(plan_of("stride", 33, Op::store, 64 * mib));
    EXPECT_NEAR(dram.read.bytes / mib, 512, 8);
    EXPECT_NEAR(dram.write.bytes / mib, 512, 8);
}

// Measured on an H200 (256 MiB of 16 bytes, column by column of a matrix of 128-byte rows): 535 MB
// are read. Every sector comes twice, a half each time, and L2 does not hold it in between: it is
// completed twice, 2 x 32 bytes for each of 2^23.
TEST(DramTraffic, of_sectors_stored_a_half_at_a_time_is_read_twice) {
    Plan plan = plan_of("column", 128, Op::store, 256 * mib);
    plan.type = ElementType::f32x4;
    build_program(plan);
    const DramTraffic dram =
        dram_traffic(reaches_of(plan.program),
                     {.l2_bytes = 60.0 * mib, .l2_write_sectors = 1 << 24}, L2Shares{});
    EXPECT_NEAR(dram.read.bytes / mib, 512, 1);
}

DramTraffic dram_of_stores(const Plan& plan, double l2_write_sectors) {
    return dram_traffic(reaches_of(plan.program),
                        {.l2_bytes = 60.0 * mib, .l2_write_sectors = l2_write_sectors}, L2Shares{});
}

// Measured on an H200 (256 MiB of 8 bytes, transposed as they come, width 512): 283 MB are written
// of 268 MB, of which 20 MB stay in L2, and 39 MB read to complete what came too late. A sector
// comes in 4 parts from rows far apart; those of an offset come from neighbouring warps and wait in
// vain for nothing.
TEST(DramTraffic, of_sectors_stored_in_parts_from_afar_is_written_more_than_once) {
    const Plan transpose =
        shaped(plan_of("transpose", 512, Op::copy, 256 * mib), ElementType::f32x2, 64);
    const DramTraffic dram = dram_of_stores(transpose, 1 << 25);
    EXPECT_NEAR(dram.write.bytes, 283e6, 0.05 * 283e6);
    EXPECT_NEAR(dram.read.bytes - 256.0 * mib, 39e6, 0.2 * 39e6);
    const Plan offset = shaped(plan_of("offset", 1, Op::store, 256 * mib), ElementType::u8, 256);
    EXPECT_LT(dram_of_stores(offset, 1 << 24).read.bytes, mib);
}

// Measured on an H200: 65.2 MB are read and 124 MB written. Of each line 44 bytes are stored to: a
// whole sector, which is written as it is, and a part of another, which is read first.
TEST(DramTraffic, of_whole_sectors_beside_parts_is_read_for_the_parts_alone) {
    Plan plan;
    plan.program = make_formula_program(
        std::make_shared<ParsedFormula>(parse_formula("a[i] if lane < 11", {})),
        {.op = Op::store, .shape = {.size_bytes = 256 * mib, .block = 1024}, .values = {}});
    const DramTraffic dram = dram_of_stores(plan, 1 << 22);
    EXPECT_NEAR(dram.read.bytes, 65.2e6, 0.03 * 65.2e6);
    EXPECT_NEAR(dram.write.bytes, 124.4e6, 0.03 * 124.4e6);
}

// Of two warps of a block one stores whole sectors, the other a quarter of its lanes: the same
// bytes whichever comes first.
TEST(DramTraffic, of_whole_sectors_beside_parts_does_not_depend_on_which_warp_stores_them) {
    const auto read = [](const char* condition) {
        Plan plan;
        plan.program = make_formula_program(
            std::make_shared<ParsedFormula>(parse_formula(condition, {})),
            {.op = Op::store, .shape = {.size_bytes = 256 * mib, .block = 64}, .values = {}});
        return dram_of_stores(plan, 1 << 22).read.bytes;
    };
    const double first = read("a[i] if tid < 32 || lane % 8 == 0");
    EXPECT_NEAR(first, read("a[i] if tid >= 32 || lane % 8 == 0"), 0.1 * first);
    EXPECT_NEAR(first, 128.0 * mib, 0.1 * 128 * mib);  // the sectors of every second warp
}

// Measured on an H200 (add of 3 x 32 MiB): 18.9 MB are written while the launch runs, as device
// memory has time; were it busy, 12 MB. What is only stored stays for longer.
TEST(DramTraffic, of_idle_memory_takes_dirty_lines_early) {
    const auto written_on = [](const Plan& plan, double busy) {
        return dram_traffic(reaches_of(plan.program), {.l2_bytes = 60.0 * mib, .busy_share = busy},
                            L2Shares{})
            .write.bytes;
    };
    const Plan add = plan_of("offset", 0, Op::add, 32 * mib);
    EXPECT_NEAR(written_on(add, 0.6), 18.9e6, 1.5e6);
    EXPECT_NEAR(written_on(add, 1), 12.2e6, 1e6);
    const Plan store = plan_of("offset", 0, Op::store, 64 * mib);
    EXPECT_EQ(written_on(store, 0.2), written_on(store, 1));
}

// 196 bytes apart. A fetch of 64 bytes is alone on its line, and of 11 such places 8 have one; 128
// bytes are a whole line, which takes no longer for being alone (measured on an H200: 4.55 TB/s).
TEST(DramTraffic, of_whole_lines_is_as_dense_as_a_stream) {
    const Plan plan = plan_of("stride", 49, Op::load, 64 * mib);
    const std::vector<ArrayReach> arrays = reaches_of(plan.program);
    const auto density = [&](std::uint64_t fetch_bytes) {
        return dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .fetch_bytes = fetch_bytes},
                            L2Shares{})
            .read.density;
    };
    EXPECT_NEAR(density(64), 64.0 / 196, 0.01);
    EXPECT_EQ(density(128), 1);
}

// A float of every 64 bytes: two sectors a line, each alone in its burst, are one burst of each of
// 2^23 lines, as dense as half of a stream.
TEST(DramTraffic, of_sectors_alone_in_their_bursts_is_a_burst_for_each_line) {
    const DramFlow read = dram_of(plan_of("stride", 16, Op::store, 64 * mib)).read;
    EXPECT_NEAR(read.bytes / 32, 1 << 24, 0.03 * (1 << 24));
    EXPECT_NEAR(read.bursts / (read.bytes / 32), 0.5, 0.01);
    EXPECT_NEAR(read.density, 0.5, 0.01);
}

// Measured on an H100: floats 64 bytes apart, a sector each, come at 2.9 TB/s, as a stream does:
// two sectors of a line take as long as one burst.
TEST(DramTraffic, of_lone_sectors_fetched_is_a_burst_for_each_line) {
    const std::vector<ArrayReach> arrays =
        reaches_of(plan_of("stride", 16, Op::load, 64 * mib).program);
    const DramFlow read =
        dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .fetch_bytes = 32}, L2Shares{}).read;
    EXPECT_EQ(read.bytes, 512.0 * mib);
    EXPECT_EQ(read.bursts, 512.0 * mib / 64);
}

// Measured on an H100: 363.6 MB are read (2 of 3 arrays of 32 MiB, drawn by lot). One alone would
// stay in L2 and be read once: 67 MB both.
TEST(DramTraffic, of_arrays_drawn_by_lot_shares_l2_among_them) {
    const Plan plan =
        shaped(plan_of("scatter", 32 * mib, Op::add, 16 * mib), ElementType::f32, 128);
    const DramTraffic dram = dram_traffic(
        reaches_of(plan.program),
        {.l2_bytes = 50.0 * mib, .is_warm = true, .l2_read_sectors = 8.4e6}, L2Shares{});
    EXPECT_NEAR(dram.read.bytes, 363.6e6, 0.15 * 363.6e6);
}

TEST(DramTraffic, of_a_warm_launch_that_fits_l2_is_next_to_nothing) {
    EXPECT_LT(dram_of(plan_of("offset", 0, Op::load, 16 * mib), true).read.bytes, 0.01 * mib);
    EXPECT_NEAR(dram_of(plan_of("offset", 0, Op::load, 256 * mib), true).read.bytes, 256.0 * mib,
                mib);
}

// One term alone takes as long as it takes, after the start.
TEST(Duration, of_one_term_is_its_amount_over_its_rate) {
    Rates rates = *rates_of(find_machine("h200"));
    rates.exposed_latency = 0;
    Work work;
    work.blocks = 1e6;
    const Duration duration = duration_of(work, rates);
    EXPECT_EQ(duration.longest(), Limit::blocks);
    EXPECT_NEAR(duration.seconds, rates.start_seconds + 1e6 / rates.blocks_per_second, 1e-9);
}

Duration duration_on_h200(const Work& work) {
    return duration_of(work, *rates_of(find_machine("h200")));
}

// Measured on an H200: 64 KiB added to at random in 4 lines by one wave of blocks take 1 us,
// not 15.
TEST(Duration, of_loads_waits_for_stores_of_blocks_that_ran_before) {
    Work work;
    work.updates_of_line = 1e5;
    const auto same_line = [&](double waves) {
        work.waves = waves;
        return duration_on_h200(work).term_seconds[static_cast<std::size_t>(Limit::same_line)];
    };
    EXPECT_EQ(same_line(0.5), 0);
    EXPECT_NEAR(same_line(4) / same_line(1e9), 0.75, 1e-6);
}

// Of blocks a quarter of whose warps load, 0.4 + 0.6 / 4 of the latency is left.
TEST(Duration, of_blocks_that_idle_is_shorter) {
    Work work;
    work.waves = 100;
    work.l2_read_requests = 1;
    const auto latency = [&](double share) {
        work.loading_share = share;
        return duration_on_h200(work).term_seconds[static_cast<std::size_t>(Limit::latency)];
    };
    EXPECT_NEAR(latency(0.25) / latency(1), 0.55, 1e-9);
}

// What L2 lost to a flush is read again; a store that finds nothing there asks for nothing.
TEST(Duration, of_a_flushed_launch_is_longer_where_it_reads) {
    Work stores;
    stores.is_flushed = true;
    Work loads = stores;
    loads.l2_read_requests = 1;
    const Rates rates = *rates_of(find_machine("h200"));
    const auto start = [](const Work& work) { return duration_on_h200(work).term_seconds.front(); };
    EXPECT_EQ(start(stores), rates.start_seconds);
    EXPECT_EQ(start(loads), rates.start_seconds + rates.flushed_seconds);
}

// Branches and stores make a block live longer; a warp all of whose sectors miss waits for device
// memory as long as one whose every second sector does.
TEST(Duration, of_a_wave_is_what_its_blocks_wait_for) {
    const auto latency = [](const Work& work) {
        return duration_on_h200(work).term_seconds[static_cast<std::size_t>(Limit::latency)];
    };
    Work work;
    work.waves = 10;
    EXPECT_EQ(latency(work), 0);  // nothing is asked for
    work.l2_read_requests = 1;
    work.missing = 0.5;
    const Rates rates = *rates_of(find_machine("h200"));
    const double streamed = latency(work);
    EXPECT_DOUBLE_EQ(streamed, 10 * (rates.latency_seconds + 0.5 * rates.dram_latency_seconds));
    work.missing = 1;
    EXPECT_EQ(latency(work), streamed);
    work.has_branches = true;
    work.store_lines = 1;
    EXPECT_NEAR(latency(work),
                streamed + 10 * (rates.branch_latency_seconds + rates.store_latency_seconds),
                1e-12);
}

// 0.45 of the sectors are on their way when a load comes to them: it waits for 0.7 of what device
// memory takes. A line in L1 is waited for no longer than on average.
TEST(Duration, of_loads_of_what_is_on_its_way_is_longer) {
    Work work;
    work.l2_read_requests = 1;
    work.missing = 0.05;
    work.arriving = 0.5;
    const Rates rates = *rates_of(find_machine("h200"));
    const auto latency = [&](double waves, double fills) {
        work.waves = waves;
        work.l1_fills = fills;
        return duration_on_h200(work).term_seconds[static_cast<std::size_t>(Limit::latency)];
    };
    EXPECT_NEAR(latency(10, 0),
                10 * (rates.latency_seconds + (0.05 + 0.7 * 0.45) * rates.dram_latency_seconds),
                1e-12);
    EXPECT_NEAR(latency(0, 10), 10 * (rates.latency_seconds + 0.05 * rates.dram_latency_seconds),
                1e-12);
}

double l2_seconds(const Work& work) {
    return duration_on_h200(work).term_seconds[static_cast<std::size_t>(Limit::l2)];
}

// A read of a line that the launch stores to takes as long as a store, so that of 1e6 reads none is
// as fast as others are.
TEST(Duration, of_reads_of_what_is_stored_to_is_that_of_stores) {
    const Rates rates = *rates_of(find_machine("h200"));
    Work reads;
    reads.l2_read_requests = 1e6;
    EXPECT_DOUBLE_EQ(l2_seconds(reads), 1e6 / rates.l2_read_requests_per_second);
    reads.updating_reads = 1e6;
    EXPECT_DOUBLE_EQ(l2_seconds(reads), 1e6 / rates.l2_write_requests_per_second);
}

// 2 of 132 multiprocessors ask for no more than 3 shares of 132.
TEST(Duration, of_few_blocks_is_what_their_multiprocessors_can_ask_for) {
    Work work;
    work.l2_sectors = 1e6;
    const double of_all = l2_seconds(work);
    work.busy_share = 2.0 / 132;
    EXPECT_DOUBLE_EQ(l2_seconds(work), of_all * 132 / 3);
    work.busy_share = 0.75;
    EXPECT_EQ(l2_seconds(work), of_all);
}

// 10 of 132 multiprocessors store as many lines as 24 shares of 132.
TEST(Duration, of_few_blocks_that_store_is_what_their_multiprocessors_can_send) {
    Work work;
    work.store_lines = 1e6;
    const double of_all = l2_seconds(work);
    work.busy_share = 10.0 / 132;
    EXPECT_DOUBLE_EQ(l2_seconds(work), of_all * 132 / 24);
}

// Seconds that a whole launch is predicted to take.
double launch_seconds(const Plan& plan, const char* machine_name, CacheState cache) {
    const Machine machine = find_machine(machine_name);
    Readings readings = Predictor(machine).predict_launch(plan, {});
    EXPECT_TRUE(add_estimates(machine, plan, cache, readings));
    return number_in(readings[Counter::duration_seconds]);
}

// Lines that are waited for have their places in L1: 10 times all of them are 10 times as long as
// one line is waited for, unless the waves of blocks take longer.
TEST(Duration, of_a_full_l1_is_a_latency_for_each_time_it_fills) {
    const auto latency = [](double waves, double fills) {
        Work work;
        work.l2_read_requests = 1;
        work.waves = waves;
        work.l1_fills = fills;
        return duration_on_h200(work).term_seconds[static_cast<std::size_t>(Limit::latency)];
    };
    EXPECT_DOUBLE_EQ(latency(1, 10), 10 * latency(1, 0));
    EXPECT_EQ(latency(10, 1), latency(10, 0));
}

// Measured on an H100: 1.25 to 1.33 ms by tiles of 16 that blocks of 256 threads wait for, 0.74 to
// 0.76 by tiles of 64, which device memory limits.
TEST(Duration, of_tiles_is_longer_where_each_wave_waits_at_a_barrier) {
    const auto tiled = [](std::uint32_t tile) {
        Plan plan = plan_of("transpose", 4096, Op::copy, 1024 * mib);
        plan.options.variant = "padded";
        plan.options.tile = tile;
        build_program(plan);
        return launch_seconds(plan, "h100", CacheState::warm);
    };
    EXPECT_NEAR(tiled(16), 1.25e-3, 0.1 * 1.25e-3);
    EXPECT_NEAR(tiled(64), 0.75e-3, 0.1 * 0.75e-3);
}

// Measured on an H200: 280 us with as little L1 as can be, 28 KiB, 224 lines of a column at a time.
// A large one does not hold them up.
TEST(Duration, of_columns_through_a_small_l1_is_what_an_h200_took) {
    Plan plan = shaped(plan_of("column", 116'096, Op::copy, 96 * mib), ElementType::f32, 256);
    plan.cache.carveout = Carveout{100, "prefer-shared"};
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 280e-6, 0.1 * 280e-6);
    plan.cache.carveout = std::nullopt;
    EXPECT_LT(launch_seconds(plan, "h200", CacheState::cold), 0.7 * 280e-6);
}

// Measured on an H200: 805 and 859 us, each element loaded and stored for itself. Were reads as
// fast as of what nobody stores to, 580.
TEST(Duration, of_columns_that_are_updated_is_what_an_h200_took) {
    const Plan plan = shaped(plan_of("column", 32'896, Op::rmw, 96 * mib), ElementType::f32, 256);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 859e-6, 0.1 * 859e-6);
}

// Measured on an H200: 10.5 us, of which 6 after the start. Two blocks have two multiprocessors;
// what else they wait for is not known.
TEST(Duration, of_two_blocks_is_longer_than_a_start) {
    const Plan plan =
        shaped(plan_of("broadcast", 8, Op::add, 256 << 10, 8), ElementType::f32x4, 1024);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 10.5e-6, 0.45 * 10.5e-6);
}

// Measured on an H100: 515 us, where L2 could serve as many stores to lines of their own in 240.
// Each warp stores to 32 lines, and the next one to the same: those that run at a time to 309 of
// 12,332.
TEST(Duration, of_stores_that_gather_is_what_their_lines_take) {
    Plan plan;
    plan.program = make_formula_program(
        std::make_shared<ParsedFormula>(parse_formula("lane*45 + i/32", {})),
        {.op = Op::store, .shape = {.size_bytes = 48 * mib, .block = 64}, .values = {}});
    const Reach reach = reaches_of(plan.program).front().stores;
    EXPECT_NEAR(reach.lines_of_share(132.0 * 32 / 196'608), 309, 3);
    EXPECT_EQ(reach.lines_of_share(1), reach.units[2]);
    EXPECT_EQ(reach.lines_of_share(1e-6), 45);
    EXPECT_NEAR(launch_seconds(plan, "h100", CacheState::cold), 515e-6, 0.2 * 515e-6);
}

Plan formula_plan(const std::string& text, ElementType type, const LaunchShape& shape) {
    Plan plan;
    plan.shape = shape;
    plan.program =
        make_formula_program(std::make_shared<ParsedFormula>(parse_formula(text, {})),
                             {.op = Op::load, .type = type, .shape = shape, .values = {}});
    return plan;
}

// Measured on an H100: 97 us. 31 lines of a warp, four times over: one a clock were 250.
TEST(Duration, of_lines_looked_up_in_l1_is_what_an_h100_took) {
    const Plan plan = formula_plan("lane*31 + i/32", ElementType::f32,
                                   {.size_bytes = 256 * mib, .block = 256, .per_thread = 4});
    EXPECT_NEAR(launch_seconds(plan, "h100", CacheState::cold), 97e-6, 0.2 * 97e-6);
}

// The quotient and the remainder of one division are one; powers of two are shifts and masks.
TEST(Work, has_the_divisions_of_a_formula) {
    const auto divisions = [](const std::string& text) {
        const Plan plan = formula_plan(text, ElementType::f32, {.size_bytes = mib, .block = 256});
        return divisions_of(plan.program.instructions.front().formula);
    };
    EXPECT_EQ(divisions("i/7*9 + i%7"), 1u);
    EXPECT_EQ(divisions("i/7 + i%5"), 2u);
    EXPECT_EQ(divisions("i/8 + lane%4 + i%n"), 0u);
    EXPECT_EQ(divisions("i*3"), 0u);
}

// Measured on an H200: 14.4 us, where nothing but the remainders takes 9.
TEST(Duration, of_a_formula_that_divides_is_what_an_h200_took) {
    const Plan plan = formula_plan("i % 136793", ElementType::u16,
                                   {.size_bytes = 16 * mib, .block = 1024, .per_thread = 4});
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 14.4e-6, 0.2 * 14.4e-6);
}

// Windows of a sample that meet by the formula's own rule say that few lines are touched; the
// sectors say that all are.
TEST(Reach, of_lines_is_no_less_than_that_of_their_sectors) {
    const Plan plan = formula_plan("(i*16321) % n", ElementType::f32,
                                   {.size_bytes = 96 * mib, .block = 1024, .per_thread = 2});
    const Reach reach = reaches_of(plan.program).front().loads;
    EXPECT_GE(reach.units[1], reach.units[0] / 2);
    EXPECT_GE(reach.units[2], reach.units[1] / 2);
}

// Measured on an H200: 108 us. A block's warps load 32 neighbouring bytes past L1, and those of the
// blocks beside it the rest of what device memory brings.
TEST(Duration, of_a_broadcast_past_l1_is_how_long_its_waves_wait_for_device_memory) {
    Plan plan = shaped(plan_of("broadcast", 32, Op::load, 32 * mib), ElementType::u8, 1024);
    plan.cache.dlcm = LoadModifier::cg;
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 108e-6, 0.25 * 108e-6);
}

// Measured: 123 us on an H200, of loads of 32 lines that L1 does not keep.
TEST(Duration, of_loads_of_few_lines_is_what_each_line_takes) {
    Plan plan = shaped(plan_of("scatter", 4096, Op::load, 32 * mib, 8), ElementType::f64, 1024);
    plan.cache.dlcm = LoadModifier::cv;
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 123e-6, 0.1 * 123e-6);
}

// Measured by `coalprof calibrate`: 92 us on both, of 32 lines; 13.2 us on an H200, of as many
// sectors as a stride of 8 has, four to a request.
TEST(Duration, of_reductions_is_what_their_sectors_and_lines_take) {
    const Plan few = shaped(plan_of("scatter", 4096, Op::reduce, 4 * mib), ElementType::u32, 256);
    EXPECT_NEAR(launch_seconds(few, "h200", CacheState::cold), 92e-6, 0.15 * 92e-6);
    EXPECT_NEAR(launch_seconds(few, "h100", CacheState::cold), 92e-6, 0.15 * 92e-6);
    const Plan sectors = plan_of("stride", 8, Op::reduce, 4 * mib);
    EXPECT_NEAR(launch_seconds(sectors, "h200", CacheState::warm), 13.2e-6, 0.15 * 13.2e-6);
}

// Measured on an H100 by `coalprof calibrate` (docs/measurements/h100/calibrate/h100.json): 52.7
// us. Of a broadcast of what L2 holds next to nothing is left but waves that wait for it, and the
// division of an index.
TEST(Duration, of_a_warm_broadcast_is_what_an_h100_took) {
    const Plan plan =
        shaped(plan_of("broadcast", 32, Op::load, 256 * mib, 8), ElementType::f32, 1024);
    const Machine machine = find_machine("h100");
    Readings readings = Predictor(machine).predict_launch(plan, {});
    const auto estimates = add_estimates(machine, plan, CacheState::warm, readings);
    ASSERT_TRUE(estimates);
    EXPECT_NEAR(number_in(readings[Counter::duration_seconds]), 52.7e-6, 0.15 * 52.7e-6);
}

// Measured on 2026-11-23: 4.58 us on a host with two H200s, where the H200 that rates were fitted
// to starts a launch in 3.28; 3.5 us on one with an H100, where the fit's was 5.01.
TEST(Estimates, of_the_start_of_a_launch_hold_what_another_host_takes) {
    const Plan plan = plan_of("offset", 0, Op::load, mib / 16);
    for (const char* name : {"h200", "h100"}) {
        const Machine machine = find_machine(name);
        Readings readings = Predictor(machine).predict_launch(plan, {});
        const auto estimates = add_estimates(machine, plan, CacheState::warm, readings);
        ASSERT_TRUE(estimates);
        EXPECT_EQ(estimates->limits.front(), Limit::start);
        const Interval* interval = estimates->of(Counter::duration_seconds);
        ASSERT_TRUE(interval);
        EXPECT_LE(interval->low, 3.5e-6);
        EXPECT_GE(interval->high, 4.58e-6);
    }
}

// Blocks decide, and the start is a third: an interval of 13 and 15 % of the whole, and that of the
// start beside it, of which nothing is left where the host's own is known.
TEST(Estimates, of_launches_hold_another_start_whatever_limits_them) {
    Work work;
    work.blocks = 1.7e4;
    Rates rates = *rates_of(find_machine("h100"));
    const Duration duration = duration_of(work, rates);
    ASSERT_EQ(duration.longest(), Limit::blocks);
    const double least = rates.starts->least_seconds;
    EXPECT_LT(range_of(duration, rates).low_seconds,
              duration.seconds - (rates.start_seconds - least));
    rates.starts.reset();
    EXPECT_NEAR(range_of(duration, rates).low_seconds, 0.87 * duration.seconds, 1e-12);
    EXPECT_NEAR(range_of(duration, rates).high_seconds, 1.15 * duration.seconds, 1e-12);
}

TEST(Estimates, leave_exact_counters_alone_and_hold_what_they_estimate) {
    const Plan plan = plan_of("offset", 1, Op::load, 4 * mib);
    const Machine machine = find_machine("h200");
    const Readings exact = Predictor(machine).predict_launch(plan, {});
    Readings readings = exact;
    const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
    ASSERT_TRUE(estimates);
    EXPECT_EQ(estimates->limits.size(), 1u);
    EXPECT_EQ(readings[Counter::load_sectors], exact[Counter::load_sectors]);
    for (const Interval& interval : estimates->intervals) {
        EXPECT_FALSE(std::holds_alternative<std::uint64_t>(exact[interval.counter]));
        EXPECT_LE(interval.low, number_in(readings[interval.counter]));
        EXPECT_GE(interval.high, number_in(readings[interval.counter]));
    }
}

// Measured on an H200: 520,400 hits of 24.7 million sectors, down columns of which L1 holds too few
// lines for any.
TEST(Estimates, of_hits_in_l1_hold_those_by_chance) {
    const Plan plan = shaped(plan_of("column", 64'236, Op::copy, 96 * mib), ElementType::f32, 256);
    const Machine machine = find_machine("h200");
    Readings readings = Predictor(machine).predict_launch(plan, {});
    const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
    ASSERT_TRUE(estimates);
    const auto hits =
        std::ranges::find(estimates->intervals, Counter::l1_hit_sectors, &Interval::counter);
    ASSERT_NE(hits, estimates->intervals.end());
    EXPECT_GE(hits->high, 520'400);
    EXPECT_EQ(hits->low, 0);
}

// A compute capability has neither bandwidth nor caches of a known size. Of a C2050 (144 GB/s, of
// which 80 % are sustained) the traffic is exact: 8 MiB are read and written.
TEST(Estimates, follow_from_traffic_alone_before_7_0_and_from_nothing_without_a_board) {
    const Plan plan = plan_of("offset", 0, Op::rmw, 4 * mib);
    Readings readings = Predictor(find_machine("9.0")).predict_launch(plan, {});
    EXPECT_FALSE(add_estimates(find_machine("9.0"), plan, CacheState::cold, readings));
    const Machine machine = find_machine("c2050");
    readings = Predictor(machine).predict_launch(plan, {});
    const double bandwidth = number_in(readings[Counter::bandwidth_bytes_per_second]);
    const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
    ASSERT_TRUE(estimates);
    EXPECT_NEAR(number_in(readings[Counter::duration_seconds]), 8 * mib / bandwidth, 1e-9);
    ASSERT_TRUE(estimates->of(Counter::duration_seconds));
    EXPECT_EQ(estimates->of(Counter::load_sectors), nullptr);
}

// Of shared, constant and local memory (tests/data/h200/README.md): nine of ten intervals hold, and
// half of the sweeps' points are told to 3 %.
TEST(Duration, of_near_memories_is_what_an_h200_took) {
    std::ifstream rows(test_data_folder() + "/h200/near_memories.csv");
    std::string line;
    std::getline(rows, line);
    std::vector<double> errors;
    std::size_t held = 0;
    const Machine machine = find_machine("h200");
    while (std::getline(rows, line)) {
        std::istringstream fields(line);
        std::string pattern, value, seconds;
        std::getline(fields, pattern, ',');
        std::getline(fields, value, ',');
        std::getline(fields, seconds, ',');
        const Plan plan = plan_of(pattern, std::stoull(value), Op::load, 64 * mib);
        Readings readings = Predictor(machine).predict_launch(plan, {});
        const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
        ASSERT_TRUE(estimates) << line;
        const Interval* interval = estimates->of(Counter::duration_seconds);
        ASSERT_TRUE(interval) << line;
        const double measured = std::stod(seconds);
        held += interval->low <= measured && measured <= interval->high;
        errors.push_back(std::abs(number_in(readings[Counter::duration_seconds]) / measured - 1));
    }
    ASSERT_GE(errors.size(), 60u);
    EXPECT_GE(static_cast<double>(held), 0.9 * static_cast<double>(errors.size()));
    std::ranges::nth_element(errors,
                             errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
    EXPECT_LT(errors[errors.size() / 2], 0.03);
}

}  // namespace
}  // namespace coalprof
