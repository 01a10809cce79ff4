#include "core/text/units.h"

#include <gtest/gtest.h>

#include <clocale>

namespace coalprof {
namespace {

TEST(Units, digits_stand_in_groups_of_three) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'000), "1,000");
    EXPECT_EQ(grouped(12'345'678), "12,345,678");
    EXPECT_EQ(grouped(18'446'744'073'709'551'615u), "18,446,744,073,709,551,615");
}

TEST(Units, sizes_take_the_unit_that_divides_them) {
    EXPECT_EQ(size_text(4 << 20), "4 MiB");
    EXPECT_EQ(size_text(480), "480 bytes");
    EXPECT_EQ(size_text(5000), "5,000 bytes");
    EXPECT_EQ(size_text(std::uint64_t{3} << 40), "3 TiB");
}

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
}

TEST(Units, the_locale_changes_nothing) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
        if (std::setlocale(LC_ALL, name) == nullptr) continue;  // not on this machine
        EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    }
    std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace coalprof
