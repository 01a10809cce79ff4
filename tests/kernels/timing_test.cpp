#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/fake_driver.h"
#include "kernels/workbench.h"

namespace coalprof {
namespace {

TEST(Summary, orders_what_it_is_given_and_interpolates_between_neighbours) {
    // 1 2 3 4 5: the median is 3, the quartiles 2 and 4.
    const Timing timing = summarize({5, 1, 4, 2, 3});
    EXPECT_EQ(timing.repeats, 5u);
    EXPECT_DOUBLE_EQ(timing.median_seconds, 3);
    EXPECT_DOUBLE_EQ(timing.low_seconds, 2);
    EXPECT_DOUBLE_EQ(timing.high_seconds, 4);
    EXPECT_DOUBLE_EQ(timing.min_seconds, 1);
    EXPECT_DOUBLE_EQ(timing.max_seconds, 5);
    // Of 1 2 3 4 the median lies between 2 and 3, the lower quartile at 1.75.
    const Timing four = summarize({4, 3, 2, 1});
    EXPECT_DOUBLE_EQ(four.median_seconds, 2.5);
    EXPECT_DOUBLE_EQ(four.low_seconds, 1.75);
    EXPECT_DOUBLE_EQ(four.high_seconds, 3.25);
    EXPECT_DOUBLE_EQ(summarize({7}).median_seconds, 7);
    EXPECT_DOUBLE_EQ(summarize({7}).high_seconds, 7);
}

class Stopwatches : public testing::Test {
 protected:
    Stopwatches() {
        gpu_.play = [this](const FakeLaunch& launch) {
            if (launch.function->name == "coalprof_pause")
                holds_.push_back(
                    static_cast<double>(*static_cast<long long*>(launch.parameters[0])) / 1e9);
        };
    }
    std::vector<double> measure(std::uint64_t repeats) {
        return stopwatch_.measure(
            repeats, [this] { log_ += 'b'; }, [this] { log_ += 'w'; });
    }
    static DeviceFacts facts() {
        DeviceFacts facts;
        facts.name = "NVIDIA H100";
        facts.major = 9;
        facts.multiprocessors = 132;
        facts.clock_hz = 1'000'000'000;
        return facts;
    }

    Script script_;
    FakeGpu gpu_;
    std::vector<double> holds_;  // seconds
    std::string log_;
    Gpu device_{FakeGpu::driver(), 0};
    Compiler compiler_{FakeGpu::nvrtc(), 90};
    KernelShop shop_{device_, compiler_};
    CacheControl cache_{shop_, facts()};
    Stopwatch stopwatch_{device_, cache_};
};

TEST_F(Stopwatches, time_the_work_and_not_what_comes_before) {
    const auto seconds = measure(10);
    EXPECT_EQ(seconds.size(), 10u);
    EXPECT_DOUBLE_EQ(seconds.front(), 0.5e-3);
    EXPECT_EQ(log_, "bwbwbwbwbwbwbwbwbwbw");
    EXPECT_EQ(holds_.size(), 3u);  // before rounds of 4, 4 and 2
    EXPECT_GT(holds_.front(), 0);
}

TEST_F(Stopwatches, start_the_clock_behind_what_comes_before) {
    const auto launch = [this] { cache_.pause(); };
    stopwatch_.measure(6, launch, [&] {
        EXPECT_EQ(script_.last_call(), "cuEventRecord");
        launch();
    });
    EXPECT_EQ(gpu_.launched.size(), 2 * 6u + 2);
}

// Two events of each repetition; the round's first is the one that must not have come yet.
TEST_F(Stopwatches, ask_whether_the_first_of_a_round_has_begun) {
    measure(10);
    EXPECT_EQ(gpu_.asked_for, (std::vector<std::uint64_t>{1, 9, 17}));
}

TEST_F(Stopwatches, do_not_take_a_failure_for_a_late_host) {
    script_.failing = "cuEventQuery";
    EXPECT_THROW(measure(4), Error);
}

TEST_F(Stopwatches, repeat_a_round_that_the_gpu_began_before_the_host_was_done) {
    gpu_.events_over = 2;
    EXPECT_EQ(measure(4).size(), 4u);
    EXPECT_EQ(log_.size(), 3 * 8u);
    ASSERT_EQ(holds_.size(), 3u);
    EXPECT_DOUBLE_EQ(holds_[1], 2 * holds_[0]);
    EXPECT_DOUBLE_EQ(holds_[2], 4 * holds_[0]);
    measure(4);  // one slow moment is not this host's pace
    EXPECT_DOUBLE_EQ(holds_.back(), holds_[0]);
}

TEST_F(Stopwatches, take_what_comes_from_a_host_that_is_always_late) {
    gpu_.events_over = 1000;
    EXPECT_EQ(measure(6).size(), 6u);
    EXPECT_LE(holds_.back(), 1e-3);
}

class CacheControls : public Stopwatches {
 protected:
    // Bytes that it reads to empty an L2 of so many.
    std::uint64_t read_bytes(std::uint64_t l2_bytes) {
        std::uint64_t words = 0;  // of 16 bytes
        gpu_.play = [&](const FakeLaunch& launch) {
            if (launch.function->name == "coalprof_flush")
                words = *static_cast<std::uint64_t*>(launch.parameters[1]);
        };
        DeviceFacts facts = Stopwatches::facts();
        facts.l2_bytes = l2_bytes;
        CacheControl(shop_, facts).flush();
        return words * 16;
    }
};

// On 9.0 twice as much as it holds (core/machine/chips), and no less than 16 MiB.
TEST_F(CacheControls, read_a_multiple_of_l2) {
    EXPECT_EQ(read_bytes(50 << 20), 100u << 20);
    EXPECT_EQ(read_bytes(1 << 20), 16u << 20);
}

TEST_F(CacheControls, clear_what_they_read) {
    EXPECT_NO_THROW(cache_.flush());
    script_.failing = "cuMemsetD8Async";
    EXPECT_THROW(CacheControl(shop_, facts()).flush(), Error);
}

TEST_F(CacheControls, keep_the_gpu_busy_while_they_pause) {
    cache_.pause();
    ASSERT_EQ(holds_.size(), 1u);
    EXPECT_GT(holds_[0], 0);
}

}  // namespace
}  // namespace coalprof
