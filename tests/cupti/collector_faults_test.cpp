// Every CUPTI call of a 33-point sweep fails once, with each of several codes: the process lives,
// the reason is named, and no point that was counted is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "core/result/reading.h"
#include "cupti/collector.h"
#include "cupti/failures.h"
#include "cupti/fake_cupti.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t points = 33;
constexpr std::array wanted{Counter::load_sectors, Counter::load_unique_bytes};
constexpr std::array codes{1, 3, 7, 8, 9, 15, 26, 27, 35, 39, 43, 999, 4711};

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

// The text that a reading without a number, or the exception, must contain.
std::string name_of_code(int code) {
    const std::string text = describe_cupti_failure(code, "count");
    const std::size_t at = text.find("CUPTI_ERROR_");
    return at == text.npos ? std::to_string(code) : text.substr(at, text.find(')', at) - at);
}

class EveryCall : public ::testing::Test {
 protected:
    static std::map<std::string, int> calls_of_a_sweep() {
        FakeCupti fake;
        sweep(fake);
        return fake.all_calls();
    }
};

// A number, or a reason that is not empty.
bool is_explained(const Reading& reading) {
    const auto* none = std::get_if<Unavailable>(&reading);
    return none == nullptr ? is_number(reading) : !none->reason.empty();
}

void expect_survives(const std::string& call, int nth, int code) {
    SCOPED_TRACE(call + " number " + std::to_string(nth) + " answers " + std::to_string(code));
    FakeCupti fake;
    fake.fail(call, nth, code);
    const Outcome outcome = sweep(fake);
    EXPECT_THAT(fake.breaches(), IsEmpty());
    if (!outcome.readings) {
        EXPECT_THAT(outcome.error, HasSubstr(name_of_code(code)));
        return;
    }
    EXPECT_EQ(outcome.readings->size(), points);
    for (const Readings& point : *outcome.readings)
        for (const Counter counter : wanted) EXPECT_TRUE(is_explained(point[counter]));
}

TEST_F(EveryCall, that_fails_once_leaves_every_point_with_a_number_or_the_reason) {
    const std::map<std::string, int> calls = calls_of_a_sweep();
    EXPECT_EQ(calls.size(), 24u);  // all of the table but the version and the list of chips
    std::size_t faults = 0;
    for (const auto& [call, count] : calls)
        for (int nth = 1; nth <= count && !HasFailure(); ++nth)
            for (const int code : codes) {
                expect_survives(call, nth, code);
                ++faults;
            }
    EXPECT_GT(faults, 2000u);
}

// The points of the first session before the one whose range could not be closed are kept: Stop
// still works, and one pass is all that there is.
TEST_F(EveryCall, of_a_range_that_fails_costs_only_the_points_from_there_on) {
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

TEST_F(EveryCall, that_closes_may_fail_without_costing_a_value) {
    for (const std::string call : {"RangeDisable", "HostDeinitialize", "ProfilerDeInitialize"}) {
        FakeCupti fake;
        fake.fail(call, 1, 999);
        const Outcome outcome = sweep(fake);
        ASSERT_TRUE(outcome.readings) << call << ": " << outcome.error;
        EXPECT_EQ(numbers(*outcome.readings, Counter::load_sectors), points) << call;
        EXPECT_EQ(numbers(*outcome.readings, Counter::load_unique_bytes), points) << call;
    }
}

TEST_F(EveryCall, of_the_first_set_up_that_fails_says_that_counters_cannot_be_had) {
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

TEST_F(EveryCall, that_reads_one_range_costs_one_point) {
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
