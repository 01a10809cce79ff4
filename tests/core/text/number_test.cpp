#include "core/text/number.h"

#include <gmock/gmock.h>
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

using testing::HasSubstr;

std::uint64_t bytes(std::string_view text) { return parse_size_bytes(text, "--size"); }

std::string refused_size(std::string_view text) {
    return refusal([text] { static_cast<void>(bytes(text)); });
}

TEST(Size, a_plain_number_is_bytes) {
    EXPECT_EQ(bytes("65536"), 65536u);
    EXPECT_EQ(bytes("512B"), 512u);
    EXPECT_EQ(bytes("1"), 1u);
    EXPECT_EQ(bytes("18446744073709551615"), largest_integer);
}

TEST(Size, binary_units_are_powers_of_1024_and_decimal_units_of_1000) {
    EXPECT_EQ(bytes("64KiB"), 65536u);
    EXPECT_EQ(bytes("4MiB"), 4194304u);
    EXPECT_EQ(bytes("1GiB"), 1073741824u);
    EXPECT_EQ(bytes("2TiB"), 2199023255552u);
    EXPECT_EQ(bytes("1kB"), 1000u);
    EXPECT_EQ(bytes("3MB"), 3000000u);
    EXPECT_EQ(bytes("1GB"), 1000000000u);
    EXPECT_EQ(bytes("7TB"), 7000000000000u);
}

TEST(Size, a_fraction_that_is_whole_bytes_is_taken_exactly) {
    EXPECT_EQ(bytes("1.5GiB"), 1610612736u);
    EXPECT_EQ(bytes("0.5KiB"), 512u);
    EXPECT_EQ(bytes("0.25kB"), 250u);
    EXPECT_EQ(bytes("1.500000000000000000000000000kB"), 1500u);  // zeros at the end say nothing
    EXPECT_EQ(bytes("2.0"), 2u);
    // 1/1024 has ten decimals: one byte.
    EXPECT_EQ(bytes("0.0009765625KiB"), 1u);
    // Beyond what a double holds: 16777215.999999999999 TB = 16777215999999999999 bytes.
    EXPECT_EQ(bytes("16777215.999999999999TB"), 16777215999999999999u);
}

TEST(Size, a_fraction_that_is_not_whole_bytes_is_refused) {
    EXPECT_EQ(refused_size("0.1KiB"),
              "coalprof: --size 0.1KiB: not a whole number of bytes ('KiB' is 1024)\n"
              "  0.1KiB\n"
              "  ^\n"
              "hint: sizes look like 65536, 64KiB, 4MiB, 1.5GiB or 1GB\n");
    EXPECT_THAT(refused_size("1.5"), HasSubstr("without a unit is whole"));
    EXPECT_THAT(refused_size("1.0001kB"), HasSubstr("not a whole number of bytes"));
    EXPECT_THAT(refused_size("1.33333333333333333333333333333333333GiB"),
                HasSubstr("not a whole number of bytes"));
    EXPECT_THAT(refused_size("1.GiB"), HasSubstr(": expected digits after '.'\n  1.GiB\n    ^\n"));
}

// In 64 bits 10^20 is 2^20 times 7,406,501,418,545: with 20 digits this would be one byte.
TEST(Size, more_digits_than_a_number_holds_are_refused) {
    EXPECT_THAT(refused_size("0.00000007406501418545MiB"),
                HasSubstr("not a whole number of bytes"));
}

TEST(Size, a_sign_or_blank_is_refused) {
    EXPECT_THAT(refused_size("-4MiB"),
                HasSubstr("--size -4MiB: a size is a number without a sign\n"));
    EXPECT_THAT(refused_size("+4MiB"), HasSubstr("a size is a number without a sign\n"));
    EXPECT_THAT(refused_size("4 MiB"),
                HasSubstr("a size is written without blanks\n  4 MiB\n   ^\n"));
    EXPECT_THAT(refused_size(" 4MiB"), HasSubstr("expected a number\n   4MiB\n  ^\n"));
    EXPECT_THAT(refused_size("MiB"), HasSubstr("expected a number\n  MiB\n  ^\n"));
}

TEST(Size, a_unit_with_two_readings_is_answered_with_both) {
    for (const std::string text : {"64K", "64k", "64kb"}) {
        EXPECT_THAT(refused_size(text),
                    HasSubstr(". Did you mean 'KiB' (1024 bytes) or 'kB' (1000 bytes)?\n"));
    }
    EXPECT_EQ(refused_size("4M"),
              "coalprof: --size 4M: unknown unit 'M'. Did you mean 'MiB' (1048576 bytes) or 'MB' "
              "(1000000 bytes)?\n"
              "  4M\n"
              "   ^\n"
              "hint: sizes look like 65536, 64KiB, 4MiB, 1.5GiB or 1GB\n");
}

TEST(Size, a_size_beyond_64_bits_is_refused) {
    for (const std::string text :
         {"18446744073709551616", "18014398509481984KiB", "99999999999TiB", "16777216TiB",
          "99999999999999999999999999GB", "18446744073709551.616kB"}) {
        EXPECT_THAT(
            refused_size(text),
            HasSubstr(": more than 18446744073709551615 bytes, the most that 64 bits count"));
    }
    EXPECT_EQ(bytes("16777215TiB"), 16777215ull << 40);
    EXPECT_EQ(bytes("18446744073709551.615kB"), largest_integer);
}

}  // namespace
}  // namespace coalprof
