#include "core/write/text_buffer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "core/write/collecting_sink.h"

namespace coalprof {
namespace {

std::string printed(double value) {
    TextBuffer text;
    text.put_real(value);
    return std::string(text.view());
}

TEST(TextBuffer, prints_integers_in_full) {
    TextBuffer text;
    text.put(std::numeric_limits<std::uint64_t>::max());
    text.put(' ');
    text.put(std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(text.view(), "18446744073709551615 -9223372036854775808");
}

TEST(TextBuffer, prints_whole_reals_as_integers) {
    EXPECT_EQ(printed(0), "0");
    EXPECT_EQ(printed(4), "4");
    EXPECT_EQ(printed(-4), "-4");
    EXPECT_EQ(printed(4.2e12), "4200000000000");
    EXPECT_EQ(printed(1e16), "1e+16");
}

TEST(TextBuffer, keeps_the_sign_of_zero) { EXPECT_EQ(printed(-0.0), "-0"); }

TEST(TextBuffer, reals_read_back_as_the_same_number) {
    std::mt19937_64 random(1);
    TextBuffer text;
    for (int i = 0; i < 20'000; ++i) {
        // Bits at random, and ratios of small integers, which repeat.
        const double value = i % 2 == 0 ? std::bit_cast<double>(random())
                                        : static_cast<double>(random() % 97) /
                                              static_cast<double>(1 + random() % 31);
        if (!std::isfinite(value)) continue;
        text.clear();
        text.put_real(value);
        EXPECT_EQ(std::strtod(std::string(text.view()).c_str(), nullptr), value);
    }
}

TEST(TextBuffer, longest_real_fits) {
    EXPECT_EQ(printed(-2.2250738585072014e-308), "-2.2250738585072014e-308");
    EXPECT_EQ(printed(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
}

TEST(TextBuffer, hands_over_in_large_blocks_and_keeps_the_order) {
    CollectingSink sink;
    TextBuffer text;
    std::string expected;
    for (int i = 0; i < 30'000; ++i) {
        const std::string piece = std::to_string(i) + ',';
        text.put(piece);
        text.hand_over_when_full(sink);
        expected += piece;
    }
    EXPECT_EQ(sink.writes.size(), expected.size() / (64 << 10));
    text.hand_over(sink);
    EXPECT_EQ(sink.text(), expected);
}

}  // namespace
}  // namespace coalprof
