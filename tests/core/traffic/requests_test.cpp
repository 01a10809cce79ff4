// Which requests of a launch leave for L2, measured launch by measured launch.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/pattern/catalog.h"
#include "core/traffic/block_replay.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/launch_order.h"
#include "core/traffic/launches.h"

namespace coalprof {
namespace {

// Measured on an H200: 10,471,492 requests of 10,485,773. A warp touches 10 lines, of which it
// shares the last with the next warp; with 4 elements a thread 40 lines lie in between.
TEST(CacheTraffic, of_neighbouring_warps_joins_nothing_behind_all_loads_of_a_warp) {
    const Plan plan = shaped(plan_of("stride", 19, Op::rmw, 64 * mib, 4), ElementType::u16, 256);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 10'471'492, 0.005 * 10'471'492);
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
    EXPECT_NEAR(caches_of(indirect).l2_read_requests, 2'333'105, 0.1 * 2'333'105);
}

Plan past_l1(Plan plan) {
    plan.cache.dlcm = LoadModifier::cg;
    return plan;
}

// Measured on an H200: of 2,097,152 warps, two of which ask for each sector, 1,976,968 requests
// leave; where eight do, 1,461,339.
TEST(CacheTraffic, of_loads_past_l1_joins_more_the_more_warps_ask_for_a_sector) {
    const auto requests = [](std::uint64_t lanes) {
        const Plan plan =
            shaped(plan_of("broadcast", lanes, Op::load, 256 * mib, 2), ElementType::f32, 512);
        return caches_of(past_l1(plan)).l2_read_requests;
    };
    EXPECT_NEAR(requests(8), 1'976'968, 0.06 * 1'976'968);
    EXPECT_NEAR(requests(32), 1'461'339, 0.08 * 1'461'339);
}

// Measured (H200), where eight warps ask for a sector: 86 % leave of blocks of 1024 threads, 61 %
// of blocks of 256. Where two do: 85 % of blocks of 64, 95 % of blocks of 256.
TEST(CacheTraffic, of_loads_past_l1_joins_more_of_small_blocks) {
    const auto requests = [](std::uint64_t lanes, ElementType type, std::uint32_t block) {
        const Plan plan = shaped(plan_of("broadcast", lanes, Op::load, 32 * mib), type, block);
        return caches_of(past_l1(plan)).l2_read_requests;
    };
    EXPECT_GT(requests(8, ElementType::u8, 1024), 1.2 * requests(8, ElementType::u8, 256));
    EXPECT_LT(requests(8, ElementType::f32, 64), 0.95 * requests(8, ElementType::f32, 256));
}

// Three-point stencils all of whose blocks start together. Measured on an H100: 7,639 requests of
// four elements a thread, by 64 blocks that share no way to L2; on an H200 13,726 of 16-bit words,
// right after another launch. By the rate at which distant warps join later in a launch 6,050 and
// 12,130 would leave. Of floats each warp's store is a request.
TEST(CacheTraffic, of_distant_blocks_that_start_together_joins_as_of_neighbours_do) {
    const auto stencil = [](std::int64_t distance, ElementType type, std::uint32_t per_thread) {
        return formula_of("load: a[max(i-K,0)]; load: a[i]; load: a[min(i+K,n-1)]; store: b[i]",
                          distance, Op::load, type, mib / 4, 256, per_thread);
    };
    const CacheTraffic few = caches_of(stencil(1491, ElementType::f32, 4));
    EXPECT_NEAR(few.l2_read_requests, 7'639, 0.08 * 7'639);
    EXPECT_NEAR(few.l2_write_requests, 2'048, 0.01 * 2'048);
    const CacheTraffic many = caches_of(stencil(461, ElementType::u16, 1), CacheState::warm);
    EXPECT_NEAR(many.l2_read_requests, 13'726, 0.05 * 13'726);
}

// Measured on an H200: 45,677 requests of 4,096 blocks that start together, though the last place
// of 128 multiprocessors stays free. By the rate at which distant warps join later 36,800 would
// leave.
TEST(CacheTraffic, of_distant_blocks_joins_as_at_the_start_where_the_first_wave_is_not_full) {
    const Plan plan = formula_of("lane*K + i/32", 14, Op::rmw, ElementType::f32, mib, 64);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 45'677, 0.05 * 45'677);
}

// Measured on an H100, 32 MiB of f32, blocks of 256 threads, eight warps of which ask for each
// line: of 262,144 warps that load 64,096 requests leave for 32,768 lines. Of those that store as
// well 70,262 leave, and would more if nothing joined beside stores, as their threads do more.
// Where two warps ask for a line, which wait on two schedulers, 193,068 leave for 131,072.
TEST(CacheTraffic, of_a_block_joins_more_while_more_is_under_way_and_beside_stores) {
    const auto requests = [](std::uint64_t lanes, Op op) {
        return caches_of(plan_of("broadcast", lanes, op, 32 * mib)).l2_read_requests;
    };
    EXPECT_NEAR(requests(8, Op::load), 64'096, 0.05 * 64'096);
    EXPECT_NEAR(requests(8, Op::copy), 70'262, 0.05 * 70'262);
    EXPECT_NEAR(requests(2, Op::load), 193'068, 0.05 * 193'068);
}

// Measured on an H100, whose warps go to four schedulers in turn: all eight warps of a block of
// 16-bit words ask for one line, and 53,453 requests of 32,768 blocks leave. If the second four
// joined the first ones as these join each other, 48,700 would.
TEST(CacheTraffic, of_warps_that_take_turns_on_their_schedulers_joins_less) {
    const Plan plan = shaped(plan_of("broadcast", 8, Op::load, 16 * mib), ElementType::u16, 256);
    EXPECT_NEAR(caches_of(plan, CacheState::warm).l2_read_requests, 53'453, 0.05 * 53'453);
}

// Measured on an H100: 12,419 requests for 128 lines that every multiprocessor fetches when the
// launch starts, and not again in 23 waves. By the rate at which they join later 6,000 would leave.
TEST(CacheTraffic, of_what_only_the_first_blocks_miss_joins_as_these_do) {
    const Plan plan = shaped(plan_of("scatter", 4096, Op::load, 96 * mib), ElementType::f32x4, 64);
    EXPECT_NEAR(caches_of(plan, CacheState::warm).l2_read_requests, 12'419, 0.1 * 12'419);
}

// Measured on an H200, four warps of a block for each line: 71 requests for 64 lines of 64 blocks,
// each on a multiprocessor that has its way to L2 to itself; 1,860 for 1,024 of 1,024 blocks.
TEST(CacheTraffic, of_few_blocks_joins_more_than_of_some_on_each_multiprocessor) {
    const auto requests = [](std::uint64_t bytes) {
        const Plan plan = shaped(plan_of("broadcast", 8, Op::load, bytes), ElementType::f64, 128);
        return caches_of(plan).l2_read_requests;
    };
    EXPECT_NEAR(requests(mib / 16), 71, 0.1 * 71);
    EXPECT_NEAR(requests(mib), 1'860, 0.1 * 1'860);
}

// Measured on an H100, loads past L1. Warps that ask for the same three lines three times: each
// leaves once (1,179,665). Warps that ask for the same two lines twice, and for a third one: of 5
// requests of 1,048,576 warps 3.69 leave. Of other warps' a quarter and a seventh join.
TEST(CacheTraffic, of_loads_past_l1_joins_those_of_a_warp_the_more_lines_they_have) {
    Plan threefold = past_l1(formula_of("load: a[i*3]; load: a[i*3+1]; load: a[i*3+2]", 0, Op::load,
                                        ElementType::f32, 48 * mib, 256));
    EXPECT_NEAR(caches_of(threefold).l2_read_requests, 1'179'665, 0.02 * 1'179'665);
    Plan twice = past_l1(formula_of("load: a[i]; load: a[i+1]; store: b[i]", 0, Op::load,
                                    ElementType::f64, 256 * mib, 256));
    EXPECT_NEAR(caches_of(twice).l2_read_requests, 3'869'837, 0.05 * 3'869'837);
}

// An atomic is no replayed access, so that pointers alone are loaded, which have no width: 16,384
// of 8 bytes, 4,096 sectors of 1,024 lines. Without a width none of their requests joined.
TEST(CacheTraffic, of_pointers_to_what_is_updated_joins_as_of_others) {
    const CacheTraffic traffic = caches_of(plan_of("indirect", 32, Op::reduce, mib / 2));
    EXPECT_EQ(std::round(traffic.l2_read_sectors), 4'096);
    EXPECT_LT(traffic.l2_read_requests, 0.9 * 4'096);
    EXPECT_GE(traffic.l2_read_requests, 1'024);
}

// Measured on an H200: of pointers that 4,096 warps load before they store, eight of which ask for
// a sector, 3,576 requests leave where L2 has them. As of pointers to what is loaded 1,497 would.
TEST(CacheTraffic, of_loads_past_l1_joins_few_where_nothing_but_pointers_is_loaded) {
    Plan plan = shaped(plan_of("indirect", 23'000, Op::store, mib), ElementType::f64, 256);
    EXPECT_NEAR(caches_of(past_l1(plan), CacheState::warm).l2_read_requests, 3'576, 0.15 * 3'576);
}

// Measured on an H200, 256 blocks of 256 threads: 3,396 requests of 4,096 where L2 was flushed
// before, 3,950 where it has what they load.
TEST(CacheTraffic, of_blocks_that_start_together_joins_more_where_l2_was_flushed) {
    const Plan plan = plan_of("offset", 13, Op::load, mib / 4);
    const double flushed = caches_of(plan).l2_read_requests;
    EXPECT_NEAR(flushed, 3'396, 0.1 * 3'396);
    const double warm = caches_of(plan, CacheState::warm).l2_read_requests;
    EXPECT_NEAR(warm, 3'950, 0.1 * 3'950);
    EXPECT_GT(warm, 1.08 * flushed);
}

// Measured on an H100: 561,723 requests for lines that four warps of a transpose read. As if each
// line had one request 729,351 would leave.
TEST(CacheTraffic, of_distant_warps_joins_more_the_more_of_them_share_a_line) {
    Plan plan = plan_of("transpose", 128, Op::copy, 32 * mib);
    plan.options.variant = "naive";
    plan = shaped(plan, ElementType::u8, 256);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 561'723, 0.08 * 561'723);
}

// Measured on an H100: 97,543 requests for 49,152 lines of which four warps ask for a sector each;
// and 1,288,500 for 524,288, by blocks of 1024 threads, of which the model has 1,550,000 leave. As
// if two warps did 114,704 and 1,676,919 would leave.
TEST(CacheTraffic, of_loads_joins_more_the_more_warps_share_a_line) {
    const Plan four = shaped(plan_of("broadcast", 8, Op::load, 48 * mib), ElementType::f32, 256);
    EXPECT_NEAR(caches_of(four).l2_read_requests, 97'543, 0.06 * 97'543);
    const Plan large =
        shaped(plan_of("broadcast", 8, Op::add, 256 * mib), ElementType::f32x2, 1024);
    EXPECT_LT(caches_of(large).l2_read_requests, 1.21 * 1'288'500);
}

// Of blocks that start together, four on a multiprocessor, right after another launch. Measured on
// an H200: 4,404 requests, of which one in ten of those that come again joins, where the launch
// stores as well.
TEST(CacheTraffic, of_loads_joins_less_where_others_store_meanwhile) {
    const auto requests = [](Op op) {
        const Plan plan = shaped(plan_of("offset", 22, op, mib / 4), ElementType::u16, 256);
        return caches_of(plan, CacheState::warm).l2_read_requests;
    };
    EXPECT_NEAR(requests(Op::rmw), 4'404, 0.08 * 4'404);
    EXPECT_LT(requests(Op::load), 0.97 * requests(Op::rmw));
}

// Measured on an H200: 213,748 requests of 262,144, of warps that shared a line with their
// neighbour when they loaded; and 1,040,557 of 1,048,575 of 16-bit words of warps that shared none.
TEST(CacheTraffic, of_stores_joins_more_of_warps_that_shared_a_line) {
    const Plan shared = shaped(plan_of("offset", 42, Op::rmw, 16 * mib), ElementType::f32, 128);
    EXPECT_NEAR(caches_of(shared).l2_write_requests, 213'748, 0.1 * 213'748);
    const Plan apart = shaped(plan_of("stride", 12, Op::add, 64 * mib), ElementType::u16, 512);
    EXPECT_NEAR(caches_of(apart).l2_write_requests, 1'040'557, 0.1 * 1'040'557);
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

// Measured on an H100: 1,132,767 requests. Blocks store while those that take their places wait for
// their own rows; as if the same warps waited for both 1,242,717 would leave.
TEST(CacheTraffic, of_stores_does_not_take_the_next_blocks_loads_for_those_that_were_waited_for) {
    Plan plan = plan_of("indirect", 6620, Op::copy, 64 * mib);
    plan.value = 6621;
    plan = shaped(plan, ElementType::u8, 128);
    EXPECT_LT(caches_of(plan).l2_write_requests, 1.05 * 1'132'767);
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

// A request is for sectors of one line, four at most.
TEST(CacheTraffic, of_a_launch_of_one_block_has_the_requests_of_its_stores) {
    const Plan plan = shaped(plan_of("scatter", 1 << 10, Op::rmw, 1 << 10), ElementType::f32, 256);
    const CacheTraffic traffic = caches_of(plan);
    EXPECT_GT(traffic.l2_write_sectors, 0);
    EXPECT_GE(traffic.l2_write_requests * 4, traffic.l2_write_sectors);
}

// Measured on an H200, requests of stores that end in another line than they begin in: 42,806 of
// blocks that start together; 697,636 of large ones later on. As if they stored one line, 48,992
// and 869,888 would leave.
TEST(CacheTraffic, of_stores_of_two_lines_comes_more_in_order) {
    const auto requests = [](std::uint64_t offset, std::uint32_t block, std::uint64_t bytes) {
        const Plan plan =
            shaped(plan_of("offset", offset, Op::store, bytes), ElementType::f32, block);
        return caches_of(plan).l2_write_requests;
    };
    EXPECT_NEAR(requests(8, 256, 4 * mib), 42'806, 0.06 * 42'806);
    EXPECT_NEAR(requests(106, 1024, 64 * mib), 697'636, 0.06 * 697'636);
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

// Measured on an H200, the first two waves of four: 0.895 of the requests of stores to pairs of
// warps in blocks of 256, two elements a thread, and 0.555 of fours in blocks of 128. As if
// schedulers took turns, half and a quarter would leave.
TEST(CacheTraffic, of_stores_of_the_first_waves_comes_in_no_order) {
    const auto share = [](const Plan& plan) {
        const CacheTraffic traffic = caches_of(plan);
        return traffic.l2_write_requests /
               (traffic.l2_write_requests + traffic.joined_write_requests);
    };
    EXPECT_GT(share(stores_in_groups(8, ElementType::f32x4, 256, 64 * mib, 2)), 0.7);
    EXPECT_GT(share(stores_in_groups(8, ElementType::f32, 128, 4 * mib, 2)), 0.45);
}

// Measured on an H200: 2,591,296 requests of rows of 8,073 bytes, each from its own line on, of
// which four warps store to a line. As if these asked for no lanes past a row's end, 1,263,095
// would leave.
TEST(CacheTraffic, of_stores_that_lanes_pass_by_comes_in_no_order) {
    Plan plan = plan_of("offset", 0, Op::store, 96 * mib);
    plan.pattern = "row";
    plan.value = 8073;
    plan.options.pitch = "8192";
    plan.options.pitch_bytes = 8192;
    plan = shaped(plan, ElementType::u8, 512);
    EXPECT_NEAR(caches_of(plan).l2_write_requests, 2'591'296, 0.15 * 2'591'296);
}

// Measured on an H100: 294,159 requests. The 32 warps of a block store to the same five lines,
// which are there until most have come; 2.6 million would leave if each joined only the one before
// it.
TEST(CacheTraffic, of_stores_of_several_lines_joins_those_that_wait) {
    const Plan plan =
        formula_of("lane*K + i/32", 4, Op::store, ElementType::f32, 64 * mib, 1024, 4);
    EXPECT_LT(caches_of(plan).l2_write_requests, 2 * 294'159);
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

// Measured on an H100: 23,825 requests, of 36,700 blocks that find the pointer of their row: about
// 85 blocks share each sector of pointers. By what two neighbours share 33,070 would leave.
TEST(CacheTraffic, of_sectors_that_many_blocks_ask_for_meets_more_often) {
    const Plan plan =
        shaped(plan_of("indirect", 38'880, Op::store, 64 * mib), ElementType::f32x2, 256);
    EXPECT_NEAR(caches_of(plan).l2_read_requests, 23'825, 0.1 * 23'825);
}

// A number that the text spells out is multiplied by or shifted. One that divides keeps warps apart
// once they do not start together.
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
    // Lanes in another order take as many instructions.
    EXPECT_TRUE(divides(plan_of("permute", 3, Op::load, mib).program.instructions[0].formula));
    const auto requests = [](const std::string& text) {
        return caches_of(formula_of(text, 19, Op::load, ElementType::u8, 64 * mib, 512))
            .l2_read_requests;
    };
    EXPECT_GT(requests("a[i] if i % K == 0"), 1.05 * requests("a[i] if i % 19 == 0"));
}

}  // namespace
}  // namespace coalprof
