// How long a launch takes, what of it limits that, and the intervals of what is estimated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/formula/formula.h"
#include "core/machine/rates.h"
#include "core/model/predict.h"
#include "core/pattern/catalog.h"
#include "core/traffic/dram_traffic.h"
#include "core/traffic/duration.h"
#include "core/traffic/estimate.h"
#include "core/traffic/launches.h"
#include "core/traffic/reach.h"
#include "core/traffic/work.h"
#include "test_data.h"

namespace coalprof {
namespace {

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
    EXPECT_EQ(start(loads), rates.flushed_start_seconds);
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

// Of 1e6 stores those that join others cost L2 half.
TEST(Duration, of_stores_that_join_others_is_shorter) {
    Work work;
    work.store_lines = work.leaving_store_lines = 1e6;
    const double of_all = l2_seconds(work);
    work.leaving_store_lines = 0.2e6;
    EXPECT_DOUBLE_EQ(l2_seconds(work), (0.2 + 0.8 / 2) * of_all);
}

// Where lines are drawn by lot, what L2 takes and what a line takes add up, whichever is longer.
TEST(Duration, of_stores_at_random_is_the_sum_of_their_waits) {
    const Rates rates = *rates_of(find_machine("h200"));
    Work work;
    work.store_lines = work.leaving_store_lines = 1e6;
    const double of_l2 = 1e6 / rates.l2_write_requests_per_second;
    const auto longest = [&](double stores_of_line) {
        work.stores_of_line = stores_of_line;
        const Duration duration = duration_on_h200(work);
        return duration.term_seconds[static_cast<std::size_t>(duration.longest())];
    };
    work.stores_at_random = true;
    for (const double of_line : {0.5 * of_l2, 2 * of_l2})
        EXPECT_DOUBLE_EQ(longest(of_line * rates.line_stores_per_second), of_l2 + of_line);
    work.stores_at_random = false;
    EXPECT_DOUBLE_EQ(longest(2 * of_l2 * rates.line_stores_per_second), 2 * of_l2);
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

// Measured on an H100: 74.8 us. What a thread loads before the barrier it does not hold behind it:
// two blocks of 1024 threads have registers on a multiprocessor, not one (162 us).
TEST(Duration, of_tiles_has_registers_for_what_is_held_up_to_the_barrier) {
    Plan plan = plan_of("transpose", 64, Op::copy, 48 * mib);
    plan.options.variant = "padded";
    plan = shaped(plan, ElementType::u8, 1024);
    EXPECT_NEAR(launch_seconds(plan, "h100", CacheState::cold), 74.8e-6, 0.15 * 74.8e-6);
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

// Measured on an H100: 97 us. 31 lines of a warp, four times over: one a clock were 250.
TEST(Duration, of_lines_looked_up_in_l1_is_what_an_h100_took) {
    const Plan plan = formula_plan("lane*31 + i/32", ElementType::f32,
                                   {.size_bytes = 256 * mib, .block = 256, .per_thread = 4});
    EXPECT_NEAR(launch_seconds(plan, "h100", CacheState::cold), 97e-6, 0.2 * 97e-6);
}

// Measured on an H200: 14.4 us, where nothing but the remainders takes 9.
TEST(Duration, of_a_formula_that_divides_is_what_an_h200_took) {
    const Plan plan = formula_plan("i % 136793", ElementType::u16,
                                   {.size_bytes = 16 * mib, .block = 1024, .per_thread = 4});
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 14.4e-6, 0.2 * 14.4e-6);
}

// Measured on an H200: 0.78 ms; were the word of a place drawn for each of both arrays, 1.5.
TEST(Duration, of_sums_at_random_places_is_of_one_word_for_both_arrays) {
    const Plan plan =
        shaped(plan_of("scatter", 32 << 10, Op::add, 256 * mib), ElementType::u16, 512);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 0.784e-3, 0.15 * 0.784e-3);
}

// Measured on an H200: 4.44 ms. Warps that run at the same time load about 340 lines, each of them
// 32; could L2 serve lines as they come, 1.8.
TEST(Duration, of_loads_past_l1_that_gather_is_what_their_lines_take) {
    Plan plan =
        formula_plan("lane*71 + i/32", ElementType::f32, {.size_bytes = 1024 * mib, .block = 1024});
    plan.cache.dlcm = LoadModifier::cv;
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 4.44e-3, 0.25 * 4.44e-3);
}

// Measured (H200): 19.7 us of stores to 4 lines that wait for each other, 0.85 ms of stores to 512.
TEST(Duration, of_stores_at_random_is_what_an_h200_took) {
    const Plan few = shaped(plan_of("scatter", 512, Op::store, 4 * mib), ElementType::f32x2, 512);
    EXPECT_NEAR(launch_seconds(few, "h200", CacheState::cold), 19.7e-6, 0.25 * 19.7e-6);
    const Plan many =
        shaped(plan_of("scatter", 64 << 10, Op::store, 48 * mib), ElementType::u16, 128);
    EXPECT_NEAR(launch_seconds(many, "h200", CacheState::cold), 0.85e-3, 0.2 * 0.85e-3);
}

// The place of a lane is one of three words' bits: 4.2 million warps issue 56 instructions each,
// where stores and blocks alone take 112 us. Measured on an H200: 264.
TEST(Duration, of_lanes_in_another_order_is_what_their_instructions_take) {
    Plan plan = plan_of("permute", 31, Op::store, 256 * mib);
    plan.options.order = "shuffle";
    plan = shaped(plan, ElementType::u16, 1024);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 264e-6, 0.15 * 264e-6);
}

// Measured on an H200: 250 us, twice what its blocks take to start.
TEST(Duration, of_rows_of_bytes_is_what_their_instructions_take) {
    Plan plan = plan_of("row", 4928, Op::store, 96 * mib);
    plan.value = 4929;
    plan.options.pitch = "auto";
    plan = shaped(plan, ElementType::u8, 512);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 250e-6, 0.25 * 250e-6);
}

// Measured on an H200: 9.0 us, of which 4 are one launch that reads after a flush. 32 KiB a block
// are less than a wave: each thread waits for eight pointers, rows and turns.
TEST(Duration, of_less_than_a_wave_is_as_long_as_its_chain_of_loads) {
    const Plan plan =
        shaped(plan_of("indirect", 15'836, Op::rmw, 256 << 10, 8), ElementType::f32, 1024);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 9.0e-6, 0.25 * 9.0e-6);
}

// Of 2,048 warps one loads: its chain is no launch's. Elements beyond eight
// are counted as eight, for nobody has measured them.
TEST(Duration, of_a_chain_is_of_those_that_load_and_of_eight_elements_at_most) {
    const auto seconds = [](const Plan& plan) {
        return launch_seconds(plan, "h200", CacheState::cold);
    };
    const auto few = [](std::uint32_t per_thread) {
        return formula_plan("a[i] if i < 32", ElementType::f32,
                            {.size_bytes = 256 << 10, .block = 256, .per_thread = per_thread});
    };
    EXPECT_LT(seconds(few(8)), 1.2 * seconds(few(1)));
    const auto rows = [](std::uint32_t per_thread) {
        return shaped(plan_of("indirect", 4096, Op::load, 64 << 10, per_thread), ElementType::f32,
                      256);
    };
    EXPECT_GT(seconds(rows(8)), 1.2 * seconds(rows(1)));
    EXPECT_LT(seconds(rows(64)), 1.5 * seconds(rows(8)));
    // A reduction's answer is waited for by nobody.
    const auto sums = [](std::uint32_t per_thread) {
        return shaped(plan_of("offset", 0, Op::reduce, 64 << 10, per_thread), ElementType::u32,
                      256);
    };
    EXPECT_LT(seconds(sums(8)), 1.05 * seconds(sums(1)));
}

// Pointers of eight elements a thread take longer than a start of 1 us, not than an H200's.
TEST(Duration, of_a_chain_that_is_longer_than_the_start_is_limited_by_latency) {
    Work work;
    work.waves = 0.1;
    work.per_thread = 8;
    work.dependent_loads = 1;
    work.load_turns = 2;
    work.l2_read_requests = 100;
    Rates rates = *rates_of(find_machine("h200"));
    EXPECT_EQ(duration_of(work, rates).longest(), Limit::start);
    rates.start_seconds = 1e-6;
    EXPECT_EQ(duration_of(work, rates).longest(), Limit::latency);
}

// Measured on an H200: 70.7 us. One behind the other the pointers of both arrays would take 30
// more.
TEST(Duration, of_sums_of_rows_waits_for_the_pointers_of_both_arrays_at_once) {
    Plan plan = shaped(plan_of("indirect", 4'284, Op::add, 48 * mib), ElementType::f32, 256);
    plan.cache.dlcm = LoadModifier::cs;
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 70.7e-6, 0.1 * 70.7e-6);
}

// Measured on an H200: 0.98 ms. Were updates of one sector as fast as of many, 0.48.
TEST(Duration, of_updates_that_meet_in_a_sector_is_what_an_h200_took) {
    Plan plan = plan_of("column", 2540, Op::rmw, 16 * mib);
    plan.value = 2538;
    plan = shaped(plan, ElementType::u8, 512);
    EXPECT_NEAR(launch_seconds(plan, "h200", CacheState::cold), 0.98e-3, 0.15 * 0.98e-3);
}

// Measured on an H200: 19.5 us, and half as long where shared memory has room for the tiles of
// several blocks.
TEST(Duration, of_tiles_that_take_all_shared_memory_is_of_one_block_at_a_time) {
    Plan plan = plan_of("transpose", 4096, Op::copy, 16 * mib);
    plan.options.variant = "padded";
    plan = shaped(plan, ElementType::f64, 256);
    const double with_room = launch_seconds(plan, "h200", CacheState::cold);
    plan.cache.carveout = Carveout{.shared_percent = 0, .text = {}};
    const double alone = launch_seconds(plan, "h200", CacheState::cold);
    EXPECT_GT(alone, 1.5 * with_room);
    EXPECT_NEAR(alone, 19.5e-6, 0.6 * 19.5e-6);
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

// Measured on an H200: 851,182 sectors of 1,048,576, four of which warps past L1 ask for.
TEST(Estimates, of_sectors_past_l1_hold_that_fewer_join) {
    Plan plan = shaped(plan_of("broadcast", 32, Op::load, 256 * mib, 4), ElementType::f64, 1024);
    plan.cache.dlcm = LoadModifier::cg;
    const Machine machine = find_machine("h200");
    Readings readings = Predictor(machine).predict_launch(plan, {});
    const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
    ASSERT_TRUE(estimates);
    const auto sectors =
        std::ranges::find(estimates->intervals, Counter::l2_read_sectors, &Interval::counter);
    ASSERT_NE(sectors, estimates->intervals.end());
    EXPECT_LE(sectors->low, 851'182);
    EXPECT_GE(sectors->high, 851'182);
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

// Measured on an H200: 22.0 us where all lanes of a warp go to one bank of L1, each in a line of
// its own (128 bytes apart), and 17.4 where they go to eight (39 elements of 16 bytes), which L1
// has less often.
TEST(Duration, of_loads_that_hit_l1_in_one_bank_is_a_pass_for_each_lane) {
    const auto seconds = [](std::int64_t apart) {
        const Plan plan =
            formula_of("lane*K + i/32", apart, Op::load, ElementType::f32x4, 64 * mib, 1024, 4);
        return launch_seconds(plan, "h200", CacheState::cold);
    };
    EXPECT_NEAR(seconds(8), 22.0e-6, 0.2 * 22.0e-6);
    EXPECT_NEAR(seconds(39), 17.4e-6, 0.2 * 17.4e-6);
}

// Measured on an H200: 914 us, and 735 of a region of 64 MiB; both are dense in the end, but
// written back in no order. Counted as dense 0.68 and 0.56 of that were predicted.
TEST(Duration, of_stores_at_random_beyond_l2_is_that_of_sparse_ones) {
    const auto seconds = [](std::uint64_t region) {
        const Plan plan =
            shaped(plan_of("scatter", region, Op::store, 64 * mib, 8), ElementType::f32, 64);
        return launch_seconds(plan, "h200", CacheState::cold);
    };
    EXPECT_NEAR(seconds(128 * mib), 914e-6, 0.2 * 914e-6);
    EXPECT_NEAR(seconds(64 * mib), 735e-6, 0.3 * 735e-6);
}

}  // namespace
}  // namespace coalprof
