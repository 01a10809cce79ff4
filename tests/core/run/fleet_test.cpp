// Which GPUs of a host differ from the others of their kind.
#include "core/run/fleet.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

struct Gpu {
    std::string name = "Fake GPU";
    double factor = 1;  // of the time that the point takes
};

// Quartiles a per cent around medians of 1, 2, 3, ... us.
std::vector<Warning> judged(const std::vector<Gpu>& gpus, std::size_t points = 8,
                            double spread = 0.01) {
    std::vector<MeasuredDevice> devices;
    for (std::size_t k = 0; k < gpus.size(); ++k)
        devices.push_back({.index = k, .name = gpus[k].name});
    FleetJudge judge(devices);
    for (std::size_t i = 0; i < points; ++i) {
        for (std::size_t k = 0; k < gpus.size(); ++k) {
            PlannedPoint planned;
            planned.number = i;
            planned.scope = {{"device", k}};
            Point point;
            const double median = 1e-6 * static_cast<double>(i + 1) * gpus[k].factor;
            point.timing = Timing{.repeats = 20,
                                  .median_seconds = median,
                                  .low_seconds = median * (1 - spread),
                                  .high_seconds = median * (1 + spread),
                                  .min_seconds = median * (1 - spread),
                                  .max_seconds = median * (1 + spread)};
            judge.add(planned, point);
        }
    }
    return judge.warnings();
}

void expect_told(const std::vector<Warning>& warnings, const std::string& device,
                 const std::string& ratio) {
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings.front().code, "W-FLEET");
    EXPECT_EQ(warnings.front().text.find(device + " "), 0u) << warnings.front().text;
    EXPECT_NE(warnings.front().text.find(" " + ratio + " times"), std::string::npos)
        << warnings.front().text;
}

TEST(Fleet, of_equals_says_nothing) {
    EXPECT_TRUE(judged({{}, {}, {}, {}}).empty());
    EXPECT_TRUE(judged({{}, {}}).empty());
    EXPECT_TRUE(judged({{}}).empty());
    EXPECT_TRUE(judged({}).empty());
}

TEST(Fleet, names_the_one_that_is_slow_among_three_or_four) {
    expect_told(judged({{}, {}, {.factor = 1.2}}), "device 2", "1.20");
    expect_told(judged({{.factor = 1.2}, {}, {}, {}}), "device 0", "1.20");
}

TEST(Fleet, names_one_that_is_fast) {
    expect_told(judged({{}, {.factor = 0.8}, {}, {}}), "device 1", "0.80");
}

TEST(Fleet, of_two_names_the_slower) {
    expect_told(judged({{.factor = 1.5}, {}}), "device 0", "1.50");
    expect_told(judged({{}, {.factor = 1.5}}), "device 1", "1.50");
}

// A clock that saw no time pass.
TEST(Fleet, leaves_alone_what_has_no_time) {
    EXPECT_TRUE(judged({{}, {}, {.factor = 0}}).empty());
    EXPECT_TRUE(judged({{.factor = 0}, {.factor = 0}}).empty());
}

// 5 % apart, and the quartiles 10 % around each.
TEST(Fleet, leaves_alone_what_lies_within_the_spread) {
    EXPECT_TRUE(judged({{}, {}, {.factor = 1.05}}, 8, 0.1).empty());
    EXPECT_EQ(judged({{}, {}, {.factor = 1.05}}, 8, 0.01).size(), 1u);
}

TEST(Fleet, leaves_alone_what_nobody_would_act_on) {
    EXPECT_TRUE(judged({{}, {}, {.factor = 1.01}}, 8, 0.001).empty());
}

TEST(Fleet, holds_only_gpus_of_one_kind_against_each_other) {
    EXPECT_TRUE(judged({{}, {}, {.name = "Other GPU", .factor = 3}}).empty());
    expect_told(judged({{"A", 1}, {"B", 3}, {"A", 1.1}, {"B", 3}}), "device 2", "1.10");
}

}  // namespace
}  // namespace coalprof
