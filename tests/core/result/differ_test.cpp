#include "core/result/differ.h"

#include <gtest/gtest.h>

#include "core/write/synthetic.h"

namespace coalprof {
namespace {

constexpr Counter time = Counter::duration_seconds;

TEST(Differ, exact_numbers_surely_do_beyond_the_tolerance) {
    const Amount ten = Amount::exactly(10);
    EXPECT_EQ(differ(ten, ten, 0), Differ::no);
    EXPECT_EQ(differ(ten, Amount::exactly(10.5), 0.05), Differ::no);
    EXPECT_EQ(differ(ten, Amount::exactly(10.6), 0.05), Differ::surely);
    EXPECT_EQ(differ(Amount{}, Amount::exactly(1e-9), 0.05), Differ::surely);
}

TEST(Differ, overlapping_ones_do_at_most_likely_whichever_stands_first) {
    const Amount small{9, 10, 12};
    for (const auto& [large, expected] : {std::pair{Amount{9, 11, 13}, Differ::perhaps},
                                          {Amount{11, 12.5, 14}, Differ::likely},
                                          {Amount{12, 13, 14}, Differ::likely},
                                          {Amount{12.1, 13, 14}, Differ::surely}}) {
        EXPECT_EQ(differ(small, large, 0), expected) << large.middle;
        EXPECT_EQ(differ(large, small, 0), expected) << large.middle;
    }
    EXPECT_EQ(differ(small, {12.1, 13, 14}, 0.3), Differ::no);
}

TEST(Amount, of_a_point_has_the_ends_that_the_point_has) {
    Point point = synthetic::estimated_point(1);
    const auto predicted = predicted_amount(point, time);
    ASSERT_TRUE(predicted);
    EXPECT_LT(predicted->low, predicted->middle);
    EXPECT_GT(predicted->high, predicted->middle);
    EXPECT_EQ(predicted_amount(point, Counter::load_sectors)->low,
              predicted_amount(point, Counter::load_sectors)->high);
    EXPECT_FALSE(measured_amount(point, time));
    point.measured.emplace()[time] = 3.0;
    point.timing = Timing{.median_seconds = 3, .low_seconds = 2, .high_seconds = 4};
    EXPECT_EQ(measured_amount(point, time)->low, 2);
    EXPECT_EQ(measured_amount(point, time)->high, 4);
    point.predicted[time] = Unavailable{"x"};
    EXPECT_FALSE(predicted_amount(point, time));
}

}  // namespace
}  // namespace coalprof
