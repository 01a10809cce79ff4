#include "core/json/value.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <new>

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

// The program's own addresses, in bytes.
rlim_t mapped_bytes() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// The variant of libstdc++ 12 would crash.
TEST(Value, that_memory_is_too_short_to_copy_throws) {
    if (mapped_bytes() > rlim_t{1} << 40) GTEST_SKIP() << "a sanitizer maps more than any limit";
    constexpr std::size_t large = 64 << 20;
    const NamedValues values{{"text", std::string(large, 'x')}};
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    const rlimit narrow{mapped_bytes() + large / 4, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &narrow), 0);
    EXPECT_THROW(NamedValues copy(values), std::bad_alloc);
    ::setrlimit(RLIMIT_AS, &before);
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
