#include "core/result/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace coalprof {
namespace {

constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

TEST(Value, holds_every_integer_of_64_bits) {
    EXPECT_EQ(text_of(largest), "18446744073709551615");
    EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(text_of(std::uint64_t{1} << 63), "9223372036854775808");
}

TEST(Value, is_equal_to_another_of_the_same_number_whatever_its_type) {
    EXPECT_EQ(Value{std::uint64_t{7}}, Value{7});
    EXPECT_EQ(Value{std::uint8_t{7}}, Value{std::int64_t{7}});
    EXPECT_NE(Value{largest}, Value{-1});
}

TEST(Value, keeps_flags_and_reals_apart_from_integers) {
    EXPECT_NE(Value{true}, Value{1});
    EXPECT_NE(Value{1.0}, Value{1});
    EXPECT_TRUE(std::holds_alternative<std::string>(Value{"text"}));
}

TEST(NamedValues, are_found_by_name_wherever_they_stand) {
    const NamedValues values{{"a", 1}, {"b", 2}};
    EXPECT_EQ(*find_value(values, "b"), Value{2});
    EXPECT_EQ(*find_value(values, "b", 1), Value{2});
    EXPECT_EQ(*find_value(values, "b", 9), Value{2});
    EXPECT_EQ(find_value(values, "c"), nullptr);
}

}  // namespace
}  // namespace coalprof
