// What is estimated of a launch, with which interval, and what is left alone.
#include "core/sim/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/sim/launch_order.h"
#include "core/sim/launches.h"
#include "test_data.h"

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

// An H100 PCIe has the chip of the SXM, but nobody counted its launches.
TEST(Intervals, of_counters_are_wider_on_a_gpu_that_nobody_measured) {
    const auto lows = [](std::string_view board) {
        const Estimated one =
            estimated(plan_of("scatter", 64 * mebibyte, Op::rmw, 16 * mebibyte), board);
        std::map<std::string_view, double> all;
        for (const Interval& interval : one.estimates.intervals)
            all[info(interval.counter).key] = interval.low / one.at(interval.counter);
        return all;
    };
    const auto measured = lows("h100");
    EXPECT_GE(measured.size(), 5u);
    for (const auto& [key, low] : lows("h100-pcie")) EXPECT_LT(low, measured.at(key)) << key;
}

// Measured on 2026-11-23: 4.58 us on a host with two H200s, where another one's starts a launch in
// 3.28; 3.5 us on one with an H100.
TEST(Estimates, of_the_start_of_a_launch_hold_what_another_host_takes) {
    for (const char* name : {"h200", "h100"}) {
        const Estimated one =
            estimated(plan_of("offset", 0, Op::load, mebibyte / 16), name, CacheState::warm);
        EXPECT_EQ(one.estimates.limits.front(), Limit::start);
        const Interval* interval = one.estimates.of(Counter::duration_seconds);
        ASSERT_TRUE(interval);
        EXPECT_LE(interval->low, 3.5e-6);
        EXPECT_GE(interval->high, 4.58e-6);
    }
}

TEST(Estimates, leave_exact_counters_alone_and_hold_what_they_estimate) {
    const Plan plan = plan_of("offset", 1, Op::load, 4 * mebibyte);
    const Readings exact = Predictor(find_machine("h200")).predict_launch(plan, {});
    const Estimated one = estimated(plan, "h200");
    EXPECT_EQ(one.estimates.limits.size(), 1u);
    EXPECT_EQ(one.readings[Counter::load_sectors], exact[Counter::load_sectors]);
    for (const Interval& interval : one.estimates.intervals) {
        EXPECT_FALSE(std::holds_alternative<std::uint64_t>(exact[interval.counter]));
        EXPECT_LE(interval.low, one.at(interval.counter));
        EXPECT_GE(interval.high, one.at(interval.counter));
    }
}

// A compute capability has neither bandwidth nor caches of a known size. Of a C2050 (144 GB/s, of
// which 80 % are sustained) the traffic is exact: 8 MiB are read and written.
TEST(Estimates, follow_from_traffic_alone_before_7_0_and_from_nothing_without_a_board) {
    const Plan plan = plan_of("offset", 0, Op::rmw, 4 * mebibyte);
    Readings readings = Predictor(find_machine("9.0")).predict_launch(plan, {});
    EXPECT_FALSE(add_estimates(find_machine("9.0"), plan, CacheState::cold, readings));
    const double bandwidth =
        number_in(Predictor(find_machine("c2050"))
                      .predict_launch(plan, {})[Counter::bandwidth_bytes_per_second]);
    const Estimated one = estimated(plan, "c2050");
    EXPECT_NEAR(one.seconds(), 8 * mebibyte / bandwidth, 1e-9);
    ASSERT_TRUE(one.estimates.of(Counter::duration_seconds));
    EXPECT_DOUBLE_EQ(one.estimates.of(Counter::duration_seconds)->low, 0.9 * one.seconds());
    EXPECT_DOUBLE_EQ(one.estimates.of(Counter::duration_seconds)->high, 3 * one.seconds());
    EXPECT_EQ(one.estimates.of(Counter::load_sectors), nullptr);
}

// Of shared, constant and local memory (tests/data/h200/README.md): all intervals hold, and half of
// the sweeps' points are within 4 %.
TEST(Estimates, of_near_memories_are_what_an_h200_took) {
    std::ifstream rows(test_data_folder() + "/h200/near_memories.csv");
    std::string line;
    std::getline(rows, line);
    std::vector<double> errors;
    while (std::getline(rows, line)) {
        std::istringstream fields(line);
        std::string pattern, value, seconds;
        std::getline(fields, pattern, ',');
        std::getline(fields, value, ',');
        std::getline(fields, seconds, ',');
        const Estimated one =
            estimated(plan_of(pattern, std::stoull(value), Op::load, 64 * mebibyte), "h200");
        const Interval* interval = one.estimates.of(Counter::duration_seconds);
        ASSERT_TRUE(interval) << line;
        const double measured = std::stod(seconds);
        EXPECT_LE(interval->low, measured) << line;
        EXPECT_GE(interval->high, measured) << line;
        errors.push_back(std::abs(one.seconds() / measured - 1));
    }
    ASSERT_GE(errors.size(), 60u);
    std::ranges::nth_element(errors,
                             errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
    EXPECT_LT(errors[errors.size() / 2], 0.04);
}

}  // namespace
}  // namespace coalprof
