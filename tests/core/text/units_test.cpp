#include "core/text/units.h"

#include <gtest/gtest.h>

#include <clocale>

namespace coalprof {
namespace {

TEST(Units, bytes_are_told_in_binary_units) {
    EXPECT_EQ(bytes_text(0), "0 bytes");
    EXPECT_EQ(bytes_text(1), "1 byte");
    EXPECT_EQ(bytes_text(480), "480 bytes");
    EXPECT_EQ(bytes_text(1023), "1023 bytes");
    EXPECT_EQ(bytes_text(1024), "1 KiB");
    EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    EXPECT_EQ(bytes_text(4194304), "4 MiB");
    EXPECT_EQ(bytes_text(150'120'000'000), "139.8 GiB");  // 150.12e9 / 2^30 = 139.81
    EXPECT_EQ(bytes_text(~0ull), "16777216 TiB");
}

TEST(Units, a_number_that_rounds_up_to_the_next_unit_is_told_in_it) {
    EXPECT_EQ(bytes_text(1048575), "1 MiB");  // 1023.999 KiB
    EXPECT_EQ(bytes_text(1023 << 10), "1023 KiB");
    EXPECT_EQ(seconds_text(999.97e-9), "1 us");
    EXPECT_EQ(seconds_text(999.94e-9), "999.9 ns");
    EXPECT_EQ(seconds_text(0.99996), "1 s");
}

TEST(Units, seconds_are_told_in_the_unit_that_leaves_at_least_one) {
    EXPECT_EQ(seconds_text(0), "0 ns");
    EXPECT_EQ(seconds_text(2.5e-9), "2.5 ns");
    EXPECT_EQ(seconds_text(12.3456e-6), "12.35 us");
    EXPECT_EQ(seconds_text(0.0019), "1.9 ms");
    EXPECT_EQ(seconds_text(61.234), "61.23 s");
    EXPECT_EQ(seconds_text(123456.7), "123457 s");
    EXPECT_EQ(seconds_text(1e-12), "0.001 ns");
}

TEST(Units, bandwidth_is_always_gigabytes_per_second) {
    EXPECT_EQ(bandwidth_text(4529.4e9), "4529 GB/s");
    EXPECT_EQ(bandwidth_text(45.294e9), "45.29 GB/s");
    EXPECT_EQ(bandwidth_text(76.8e9), "76.8 GB/s");
    EXPECT_EQ(bandwidth_text(1.5e6), "0.0015 GB/s");
    EXPECT_EQ(bandwidth_text(0), "0 GB/s");
}

TEST(Units, a_ratio_is_told_as_per_cent) {
    EXPECT_EQ(percent_text(0.8), "80.0 %");
    EXPECT_EQ(percent_text(1), "100.0 %");
    EXPECT_EQ(percent_text(1.0 / 3), "33.3 %");
    EXPECT_EQ(percent_text(1.0 / 3, 0), "33 %");
    EXPECT_EQ(percent_text(0.125, 2), "12.50 %");
}

TEST(Units, counts_are_plain_or_grouped_by_thousands) {
    EXPECT_EQ(count_text(1048576), "1048576");
    EXPECT_EQ(count_text(1048576, Grouping::thousands), "1,048,576");
    EXPECT_EQ(count_text(999, Grouping::thousands), "999");
    EXPECT_EQ(count_text(1000, Grouping::thousands), "1,000");
    EXPECT_EQ(count_text(0, Grouping::thousands), "0");
    EXPECT_EQ(count_text(~0ull, Grouping::thousands), "18,446,744,073,709,551,615");
}

TEST(Units, the_locale_changes_nothing) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
        if (std::setlocale(LC_ALL, name) == nullptr) continue;  // not on this machine
        EXPECT_EQ(bytes_text(1536), "1.5 KiB");
        EXPECT_EQ(percent_text(0.8), "80.0 %");
        EXPECT_EQ(count_text(1000), "1000");
    }
    std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace coalprof
