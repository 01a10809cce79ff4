#include "core/write/number_text.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

TEST(NumberText, rounds_to_the_decimals_asked) {
    EXPECT_EQ(number_text(25.6, {1, 1, {}}), "25.6");
    EXPECT_EQ(number_text(10.0 + 2.0 / 3, {1, 2, {}}), "10.67");
    EXPECT_EQ(number_text(2.0, {1, 2, {}}), "2.00");
    EXPECT_EQ(number_text(1234.996, {1, 2, {}}), "1,235.00");
    EXPECT_EQ(number_text(0.125, {0.01, 1, "%"}), "12.5");
}

TEST(NumberText, never_rounds_something_to_nothing) {
    EXPECT_EQ(number_text(0.0004, {1, 2, {}}), "0.0004");
    EXPECT_EQ(number_text(0, {1, 2, {}}), "0.00");
}

TEST(NumberText, shows_what_is_too_large_to_group) {
    EXPECT_EQ(number_text(3e20, {1, 2, {}}), "3e+20");
}

TEST(NumberText, scales_by_the_largest_number_of_a_column) {
    EXPECT_EQ(scale_for(Unit::byte, 4 << 20, "us").unit, "MiB");
    EXPECT_EQ(scale_for(Unit::byte, 1023, "us").unit, "bytes");
    EXPECT_EQ(scale_for(Unit::second, 4.7e-6, "us").unit, "us");
    EXPECT_EQ(scale_for(Unit::second, 0.02, "us").unit, "ms");
    EXPECT_EQ(scale_for(Unit::byte_per_second, 1.78e12, "us").unit, "GB/s");
    EXPECT_EQ(scale_for(Unit::byte_per_second, 1.78e12, "us").decimals, 0);
    EXPECT_EQ(scale_for(Unit::ratio, 1, "us").unit, "%");
    EXPECT_EQ(scale_for(Unit::sector, 1e9, "us").unit, "");
}

// Whatever stands beside it in the column.
TEST(NumberText, of_an_estimate_has_three_digits) {
    const NumberStyle style = estimate_style({1e9, 0, "GB/s"});
    EXPECT_EQ(number_text(4253.2e9, style), "4,250");
    EXPECT_EQ(number_text(108e9, style), "108");
    EXPECT_EQ(number_text(65.28e9, style), "65.3");
    EXPECT_EQ(number_text(9.996e9, style), "10.0");
    EXPECT_EQ(number_text(3.375e9, style), "3.38");
    EXPECT_EQ(number_text(0, style), "0.00");
    EXPECT_EQ(number_text(0.9996e9, style), "1.00");
    EXPECT_EQ(number_text(0.0123e9, style), "0.0123");
}

// 6.85 us of one machine beside 1.2 ms of another; what took no time tells nothing.
TEST(NumberText, times_of_a_column_have_the_unit_of_the_fastest) {
    const CounterInfo& time = info(Counter::duration_seconds);
    const NumberStyle style = style_for(time, {1.24e-3, 0, 6.85e-6}, true);
    EXPECT_EQ(style.unit, "us");
    EXPECT_EQ(number_text(6.85e-6, estimate_style(style)), "6.85");
    EXPECT_EQ(number_text(1.24e-3, estimate_style(style)), "1,240");
    EXPECT_EQ(style_for(time, {}, true).unit, "ns");
}

}  // namespace
}  // namespace coalprof
