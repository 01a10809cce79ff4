#include "core/text/number.h"

#include <gtest/gtest.h>

#include "core/text/refusal.h"

namespace coalprof {
namespace {

TEST(Number, reads_the_digits_in_front_and_leaves_the_rest) {
    const ReadNumber number = read_integer("128:4");
    EXPECT_EQ(number.status, NumberStatus::ok);
    EXPECT_EQ(number.value, 128u);
    EXPECT_EQ(number.length, 3u);
}

TEST(Number, takes_no_sign_blank_or_hexadecimal_prefix) {
    for (const std::string_view text : {"-1", "+1", " 1", "", "x", ".5", "\t1"})
        EXPECT_EQ(read_integer(text).status, NumberStatus::no_digits) << text;
    EXPECT_EQ(read_integer("0x10").length, 1u);  // the 0; x is not a digit
}

TEST(Number, reads_the_largest_integer_and_no_larger) {
    const ReadNumber largest = read_integer("18446744073709551615");
    EXPECT_EQ(largest.status, NumberStatus::ok);
    EXPECT_EQ(largest.value, largest_integer);
    for (const std::string_view text :
         {"18446744073709551616", "18446744073709551620", "99999999999999999999",
          // 10^20 is 7766279631452241920 modulo 2^64: a wrapped product must not pass.
          "100000000000000000000", "1000000000000000000000000000000000000000001"}) {
        const ReadNumber number = read_integer(text);
        EXPECT_EQ(number.status, NumberStatus::too_large) << text;
        EXPECT_EQ(number.length, text.size());
    }
}

TEST(Number, an_address_is_decimal_or_hexadecimal_after_0x) {
    EXPECT_EQ(read_address("4096").value, 4096u);
    EXPECT_EQ(read_address("0x7fAb00001000").value, 0x7FAB'0000'1000u);
    EXPECT_EQ(read_address("0x7fAb00001000").length, 14u);
    EXPECT_EQ(read_address("0xffffffffffffffff").value, largest_integer);
    EXPECT_EQ(read_address("0x10000000000000000").status, NumberStatus::too_large);
    EXPECT_EQ(read_address("0x").status, NumberStatus::no_digits);
    EXPECT_EQ(read_address("0X10").length, 1u);
    EXPECT_EQ(read_address("ff").status, NumberStatus::no_digits);
}

TEST(Number, an_option_takes_an_integer_within_its_bounds) {
    EXPECT_EQ(parse_integer("256", "--block", 1, 1024), 256u);
    EXPECT_EQ(parse_integer("1", "--block", 1, 1024), 1u);
    EXPECT_EQ(parse_integer("1024", "--block", 1, 1024), 1024u);
    EXPECT_EQ(parse_integer("0", "--seed"), 0u);
    EXPECT_EQ(parse_integer("18446744073709551615", "--seed"), largest_integer);
}

TEST(Number, an_option_that_is_no_integer_is_shown_where) {
    EXPECT_EQ(refusal([] { parse_integer("25 6", "--block", 1); }),
              "coalprof: --block 25 6: expected an integer from 1 up\n"
              "  25 6\n"
              "    ^\n");
    EXPECT_EQ(refusal([] { parse_integer("-1", "--block", 1); }),
              "coalprof: --block -1: expected an integer from 1 up\n"
              "  -1\n"
              "  ^\n");
    EXPECT_EQ(refusal([] { parse_integer("", "--block", 1); }),
              "coalprof: --block: expected an integer from 1 up\n");
}

}  // namespace
}  // namespace coalprof
