// What a measurement says of a prediction, at the ends of an interval and of a whole number.
#include "core/run/agreement.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

Point measured(Reading predicted, Reading found) {
    Point point;
    point.predicted[Counter::load_sectors] = predicted;
    point.measured.emplace()[Counter::load_sectors] = found;
    return point;
}

TEST(Agreement, of_an_interval_includes_both_its_ends) {
    for (const auto& [value, holds] : {std::pair<std::uint64_t, bool>{9, false},
                                       {10, true},
                                       {15, true},
                                       {20, true},
                                       {21, false}}) {
        Point point = measured(std::uint64_t{15}, value);
        point.estimates.emplace().intervals = {{Counter::load_sectors, 10, 20}};
        const Agreement agreement = agreement_of(point);
        ASSERT_EQ(agreement.intervals.size(), 1u);
        EXPECT_EQ(agreement.intervals[0].holds, holds) << value;
        EXPECT_EQ(agreement.compared, 0u);
    }
}

TEST(Agreement, of_an_estimate_that_could_not_be_measured_is_none) {
    Point point = measured(std::uint64_t{15}, Unavailable{"no permission"});
    point.estimates.emplace().intervals = {{Counter::load_sectors, 10, 20}};
    EXPECT_TRUE(agreement_of(point).intervals.empty());
    EXPECT_EQ(agreement_of(point).missing, 0u);
}

TEST(Agreement, of_a_count_is_that_of_the_very_number) {
    EXPECT_TRUE(agreement_of(measured(std::uint64_t{5}, std::uint64_t{5})).disagreements.empty());
    const Agreement other = agreement_of(measured(std::uint64_t{5}, std::uint64_t{6}));
    EXPECT_EQ(other.compared, 1u);
    ASSERT_EQ(other.disagreements.size(), 1u);
    EXPECT_EQ(other.disagreements[0].measured, 6u);
    // Sums of several passes may be no whole number.
    EXPECT_EQ(agreement_of(measured(std::uint64_t{5}, 6.75)).disagreements.at(0).measured, 7u);
}

TEST(Agreement, counts_what_could_not_be_measured) {
    const Agreement agreement =
        agreement_of(measured(std::uint64_t{5}, Unavailable{"no permission"}));
    EXPECT_EQ(agreement.missing, 1u);
    EXPECT_EQ(agreement.compared, 0u);
    EXPECT_EQ(agreement_of(measured(std::uint64_t{5}, Reading{})).missing, 0u);
}

}  // namespace
}  // namespace coalprof
