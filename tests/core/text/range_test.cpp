#include "core/text/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"
#include "core/text/number.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> values_of(std::string_view text) { return parse_range(text).values(); }

std::string refused(std::string_view text) {
    return refusal([text] { static_cast<void>(parse_range(text)); });
}

constexpr const char* hint = "hint: values look like 7, 1,2,4, 0..32, 0..128:4 or 1..1024*2\n";

TEST(Range, steps_and_stops_at_or_before_the_end) {
    EXPECT_THAT(values_of("0..16:4"), ElementsAre(0, 4, 8, 12, 16));
    EXPECT_THAT(values_of("0..10:4"), ElementsAre(0, 4, 8));
    EXPECT_THAT(values_of("3..4:100"), ElementsAre(3));
}

TEST(Range, multiplies_by_a_factor_and_stops_at_or_before_the_end) {
    EXPECT_THAT(values_of("1..16*2"), ElementsAre(1, 2, 4, 8, 16));
    EXPECT_THAT(values_of("3..100*3"), ElementsAre(3, 9, 27, 81));
    EXPECT_EQ(parse_range("1..1024*2").count(), 11u);
    EXPECT_THAT(values_of("5..9*10"), ElementsAre(5));
}

TEST(Range, powers_of_ten_are_integers) {
    EXPECT_THAT(values_of("1e3,2e0..2.5e1:14"), ElementsAre(1000, 2, 16));
    for (const char* other : {"1e-1", "1e99", "1e"}) EXPECT_THAT(refused(other), HasSubstr(other));
    EXPECT_THAT(parse_signed_range("-1e6", "--var d=").signed_values(), ElementsAre(-1'000'000));
}

TEST(Range, keeps_lists_and_mixtures_in_the_order_typed) {
    EXPECT_THAT(values_of("1,2,4,8"), ElementsAre(1, 2, 4, 8));
    EXPECT_THAT(values_of("8,2"), ElementsAre(8, 2));
    EXPECT_THAT(values_of("0..4,8,16..32:8,5..20*2"),
                ElementsAre(0, 1, 2, 3, 4, 8, 16, 24, 32, 5, 10, 20));
    EXPECT_EQ(parse_range("0..4,8,16..32:8,5..20*2").count(), 12u);
}

TEST(Range, gives_each_value_once_where_it_came_first) {
    EXPECT_THAT(values_of("1,1,1"), ElementsAre(1));
    EXPECT_THAT(values_of("8,2,8"), ElementsAre(8, 2));
    EXPECT_THAT(values_of("0..4,2..8:2"), ElementsAre(0, 1, 2, 3, 4, 6, 8));
}

TEST(Range, reaches_the_largest_integer_without_wrapping) {
    // The value after the last would be beyond 64 bits: it must be neither counted nor computed.
    EXPECT_THAT(values_of("18446744073709551614..18446744073709551615"),
                ElementsAre(largest_integer - 1, largest_integer));
    EXPECT_THAT(values_of("1..18446744073709551615:18446744073709551614"),
                ElementsAre(1, largest_integer));
    // 3^40 = 12157665459056928801 is the last power of three below 2^64.
    EXPECT_EQ(parse_range("1..18446744073709551615*3").count(), 41u);
    EXPECT_EQ(values_of("1..18446744073709551615*3").back(), 12157665459056928801u);
    EXPECT_EQ(parse_range("1..18446744073709551615*2").count(), 64u);
}

TEST(Range, counts_as_many_values_as_it_gives) {
    for (const std::string_view text : {"0..0", "0..99999", "7..1000:13", "2..5000*7",
                                        "0..100:7,3..3,9..81*3", "10..19:3", "10..18:4"})
        EXPECT_EQ(parse_range(text).count(), values_of(text).size()) << text;
}

struct Refusal {
    const char* text;
    const char* why;
    std::size_t caret;
};

TEST(SignedRange, runs_through_zero) {
    const auto values = [](std::string_view text) {
        return parse_signed_range(text, "--var k=").signed_values();
    };
    using Values = std::vector<std::int64_t>;
    EXPECT_EQ(values("-2..2"), (Values{-2, -1, 0, 1, 2}));
    EXPECT_EQ(values("-5..-1:2,7"), (Values{-5, -3, -1, 7}));
    EXPECT_EQ(values("-1,0,1..8*2"), (Values{-1, 0, 1, 2, 4, 8}));
    EXPECT_EQ(values("-0"), (Values{0}));
    EXPECT_EQ(values("-9223372036854775807..9223372036854775807:9223372036854775807"),
              (Values{-9223372036854775807, 0, 9223372036854775807}));
    EXPECT_EQ(values("-9223372036854775808"), (Values{std::numeric_limits<std::int64_t>::min()}));
}

TEST(SignedRange, what_is_none_is_refused) {
    const auto refused = [](std::string_view text) {
        return refusal([text] { static_cast<void>(parse_signed_range(text, "--var k=")); });
    };
    EXPECT_THAT(refused("1..-1"), HasSubstr("a range runs upward, and -1 is below 1"));
    EXPECT_THAT(refused("1..-1"), HasSubstr("write -1..1"));
    EXPECT_THAT(refused("--1"), HasSubstr("expected an integer"));
    EXPECT_THAT(refused("-"), HasSubstr("expected an integer"));
    EXPECT_THAT(refused("-4..4*2"), HasSubstr("begin the range at 1"));
    EXPECT_THAT(refused("-4..4:-1"), HasSubstr("expected an integer after ':'"));
    EXPECT_THAT(refused("+1"), HasSubstr("expected an integer\n"));
    EXPECT_THAT(refused("x"), HasSubstr("-4..4"));
    EXPECT_THAT(refused("9223372036854775808"), HasSubstr("the ends of 64 signed bits"));
    EXPECT_THAT(refused("-9223372036854775809"), HasSubstr("the ends of 64 signed bits"));
    EXPECT_THAT(refused("-100000..0"), HasSubstr("100001 points"));
}

TEST(Range, what_is_no_range_is_refused_with_the_place) {
    for (const Refusal& each : std::vector<Refusal>{
             {"x", "expected an integer", 0},
             {" 1", "expected an integer", 0},
             {"..5", "expected an integer", 0},
             {"0..", "expected an integer after '..'", 3},
             {"0...5", "expected an integer after '..'", 3},
             {"1,", "expected an integer after ','", 2},
             {"1,,2", "expected an integer after ','", 2},
             {"1, 2", "expected an integer after ','", 2},
             {"0..8:", "expected an integer after ':'", 5},
             {"0..8:x", "expected an integer after ':'", 5},
             {"1..8*", "expected an integer after '*'", 5},
             {"-4..4",
              "expected an integer without a sign, not '-' (a formula takes signs: formula 'a[i + "
              "d]' --var d=-5..5)",
              0},
             {"0..+4", "expected an integer without a sign, not '+'", 3},
             {"5:2", "expected '..', ',' or the end here", 1},
             {"32-0", "expected '..', ',' or the end here", 2},
             {"0x10", "expected '..', ',' or the end here", 1},
             {"1.5", "expected '..', ',' or the end here", 1},
             {"1ex", "expected '..', ',' or the end here", 1},
             {"0..8x", "expected ':', '*', ',' or the end here", 4},
             {"0..8..9", "expected ':', '*', ',' or the end here", 4},
             {"0..8:2:2", "expected ',' or the end here", 6},
             {"0..8:2*2", "expected ',' or the end here", 6},
             {"1..8*2x", "expected ',' or the end here", 6},
             {"0..8:2,5:2", "expected '..', ',' or the end here", 8},
             {"0..8:0", "a step of 0 never arrives: steps begin at 1", 5},
             {"1..8*0", "a factor of 0 never arrives: factors begin at 2", 5},
             {"1..8*1", "a factor of 1 never arrives: factors begin at 2", 5},
             {"0..8*2", "0 times a factor stays 0: begin the range at 1 or above", 0},
             {"7,0..8*2", "0 times a factor stays 0: begin the range at 1 or above", 2},
             {"18446744073709551616",
              "18446744073709551616 is above 18446744073709551615, the largest integer", 0},
             {"0..99999999999999999999:2",
              "99999999999999999999 is above 18446744073709551615, the largest integer", 3},
         }) {
        const std::string text = each.text;
        EXPECT_EQ(refused(text), "coalprof: --range " + text + ": " + each.why + "\n  " + text +
                                     "\n  " + std::string(each.caret, ' ') + "^\n" + hint);
    }
}

TEST(Range, a_reversed_range_is_told_the_right_way_round) {
    EXPECT_EQ(refused("4,32..0:2"),
              "coalprof: --range 4,32..0:2: a range runs upward, and 0 is below 32\n"
              "  4,32..0:2\n"
              "        ^\n"
              "hint: write 0..32\n");
}

TEST(Range, an_enormous_range_is_refused_with_its_count) {
    EXPECT_EQ(refused("0..100000"),
              "coalprof: --range 0..100000: 100001 points, and a sweep may have 100000 at most\n"
              "  0..100000\n"
              "hint: a step (0..1000000:1000) or a factor (1..1000000*2) thins a range out\n");
    EXPECT_THAT(refused("1..1000000000000:3"), HasSubstr(": 333333333334 points,"));
    EXPECT_THAT(refused("0..99999,5"), HasSubstr(": 100001 points,"));
    EXPECT_EQ(refused("0..99999"), "(accepted)");
}

TEST(Range, a_long_text_is_read_in_one_pass_and_echoed_cut) {
    std::string text = "1";
    for (int i = 0; i < 60'000; ++i) text += ",1";
    EXPECT_EQ(parse_range(text).count(), 60'001u);
    const std::string lines = refused(text + "x");
    EXPECT_LT(lines.size(), 400u);
    EXPECT_THAT(lines, HasSubstr("1,1,1x\n"));
}

TEST(SizedRanges, are_bytes_where_values_have_units) {
    using Values = std::vector<std::uint64_t>;
    EXPECT_EQ(parse_sized_range("4KiB", "--range").values, (Values{4096}));
    EXPECT_TRUE(parse_sized_range("4KiB", "--range").are_bytes);
    EXPECT_FALSE(parse_sized_range("1000", "--range").are_bytes);
    EXPECT_EQ(parse_sized_range("384B..512B:64B", "--range").values, (Values{384, 448, 512}));
    EXPECT_EQ(parse_sized_range("1KiB..4KiB*2", "--range").values, (Values{1024, 2048, 4096}));
    EXPECT_EQ(parse_sized_range("0,8KiB", "--shared").values, (Values{0, 8192}));
    EXPECT_EQ(parse_sized_range("0.5KiB,1KiB", "--range").values, (Values{512, 1024}));
    EXPECT_EQ(parse_size_list("1MiB..16MiB*4", "--size"), (Values{1 << 20, 1 << 22, 1 << 24}));
    EXPECT_EQ(parse_size_list("65536", "--size"), (Values{65536}));
}

TEST(SizedRanges, refuse_what_is_half_bytes) {
    for (const char* text : {"1000,4KiB", "384B..512B:32", "4K", "4KiB..", "0..4x", ""})
        EXPECT_THROW(parse_sized_range(text, "--range"), UsageError) << text;
    EXPECT_THROW(parse_size_list("0,4KiB", "--size"), UsageError);
}

}  // namespace
}  // namespace coalprof
