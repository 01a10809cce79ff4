// What a CUPTI call that fails costs, by what it was for. That none of them does more harm is
// claimed in tests/device/sweep_torture_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "core/result/reading.h"
#include "cupti/collector.h"
#include "cupti/fake_cupti.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t points = 33;
constexpr std::array wanted{Counter::load_sectors, Counter::load_unique_bytes};

struct Outcome {
    std::optional<std::vector<Readings>> readings;
    std::string error;
};

// A sweep of two sessions of hardware counters (20 and 13 points) and two instrumented ones.
Outcome sweep(FakeCupti& fake) {
    const CuptiApi api = fake.api();
    const CounterDriver driver = fake.driver();
    Outcome outcome;
    try {
        CuptiCollector collector(api, driver, {.device = 0, .points_per_session = 20});
        const auto nothing = [](std::size_t) {};
        outcome.readings = collector.collect(wanted, points, nothing, nothing);
    } catch (const CountersError& error) {
        outcome.error = error.what();
    }
    return outcome;
}

std::size_t numbers(const std::vector<Readings>& readings, Counter counter) {
    return static_cast<std::size_t>(std::ranges::count_if(
        readings, [counter](const Readings& point) { return is_number(point[counter]); }));
}

// The points of the first session before the one whose range could not be closed are kept: Stop
// still works, and one pass is all that there is.
TEST(EveryCall, of_a_range_that_fails_costs_only_the_points_from_there_on) {
    for (const std::string call : {"RangePush", "RangePop"})
        for (int nth = 2; nth <= static_cast<int>(points); ++nth) {
            FakeCupti fake;
            fake.fail(call, nth, 26);
            const Outcome outcome = sweep(fake);
            ASSERT_TRUE(outcome.readings) << call << nth << outcome.error;
            EXPECT_EQ(numbers(*outcome.readings, Counter::load_sectors),
                      static_cast<std::size_t>(nth - 1))
                << call << " number " << nth;
            const Reading& last = outcome.readings->back()[Counter::load_sectors];
            EXPECT_THAT(std::string(std::get<Unavailable>(last).reason),
                        HasSubstr("CUPTI_ERROR_HARDWARE_BUSY"));
        }
}

TEST(EveryCall, that_closes_may_fail_without_costing_a_value) {
    for (const std::string call : {"RangeDisable", "HostDeinitialize", "ProfilerDeInitialize"}) {
        FakeCupti fake;
        fake.fail(call, 1, 999);
        const Outcome outcome = sweep(fake);
        ASSERT_TRUE(outcome.readings) << call << ": " << outcome.error;
        EXPECT_EQ(numbers(*outcome.readings, Counter::load_sectors), points) << call;
        EXPECT_EQ(numbers(*outcome.readings, Counter::load_unique_bytes), points) << call;
    }
}

TEST(EveryCall, of_the_first_set_up_that_fails_says_that_counters_cannot_be_had) {
    for (const std::string call :
         {"ProfilerInitialize", "ProfilerDeviceSupported", "DeviceGetChipName", "HostInitialize",
          "RangeEnable", "RangeGetCounterDataSize", "RangeImageInitialize", "RangeSetConfig",
          "RangeStart", "HostConfigAddMetrics", "HostGetConfigImage"}) {
        FakeCupti fake;
        fake.fail(call, 1, 35);
        const Outcome outcome = sweep(fake);
        EXPECT_FALSE(outcome.readings) << call;
        EXPECT_THAT(outcome.error, HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")) << call;
        EXPECT_THAT(outcome.error, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")) << call;
    }
}

TEST(EveryCall, that_reads_one_range_costs_one_point) {
    for (const std::string call : {"RangeGetRangeInfo", "HostEvaluateToGpuValues"}) {
        FakeCupti fake;
        fake.fail(call, 5, 999);
        const Outcome outcome = sweep(fake);
        ASSERT_TRUE(outcome.readings) << call;
        EXPECT_EQ(numbers(*outcome.readings, Counter::load_sectors), points - 1) << call;
        EXPECT_FALSE(is_number((*outcome.readings)[4][Counter::load_sectors])) << call;
    }
}

}  // namespace
}  // namespace coalprof
