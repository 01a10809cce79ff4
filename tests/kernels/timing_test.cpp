#include "kernels/timing.h"

#include <gtest/gtest.h>

#include "kernels/fake_driver.h"

namespace coalprof {
namespace {

TEST(Summary, orders_what_it_is_given) {
    // 1 2 3 4 5: the median is 3, the quartiles 2 and 4.
    const Timing timing = summarize({5, 1, 4, 2, 3});
    EXPECT_EQ(timing.repeats, 5u);
    EXPECT_DOUBLE_EQ(timing.median_seconds, 3);
    EXPECT_DOUBLE_EQ(timing.low_seconds, 2);
    EXPECT_DOUBLE_EQ(timing.high_seconds, 4);
    EXPECT_DOUBLE_EQ(timing.min_seconds, 1);
    EXPECT_DOUBLE_EQ(timing.max_seconds, 5);
}

TEST(Summary, interpolates_between_neighbours) {
    // Of 1 2 3 4 the median lies between 2 and 3, the lower quartile at 1.75.
    const Timing timing = summarize({4, 3, 2, 1});
    EXPECT_DOUBLE_EQ(timing.median_seconds, 2.5);
    EXPECT_DOUBLE_EQ(timing.low_seconds, 1.75);
    EXPECT_DOUBLE_EQ(timing.high_seconds, 3.25);
}

TEST(Summary, of_one_value_is_that_value) {
    const Timing timing = summarize({7});
    EXPECT_DOUBLE_EQ(timing.median_seconds, 7);
    EXPECT_DOUBLE_EQ(timing.high_seconds, 7);
}

TEST(Stopwatch, times_the_work_and_not_what_comes_before) {
    FakeGpu gpu;
    const Gpu device(FakeGpu::driver(), 0);
    std::string log;
    Stopwatch stopwatch(device);
    const auto seconds = stopwatch.measure(
        150, [&log] { log += 'b'; }, [&log] { log += 'w'; });
    EXPECT_EQ(seconds.size(), 150u);  // more than are enqueued at once
    EXPECT_DOUBLE_EQ(seconds.front(), 0.5e-3);
    EXPECT_EQ(log.size(), 300u);
    EXPECT_EQ(log.substr(0, 4), "bwbw");
}

}  // namespace
}  // namespace coalprof
