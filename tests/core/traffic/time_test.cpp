// How long a launch takes, what of it limits that, and the intervals of what is estimated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/count/predict.h"
#include "core/formula/formula.h"
#include "core/machine/rates.h"
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
