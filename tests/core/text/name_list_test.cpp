#include "core/text/name_list.h"

#include <gtest/gtest.h>

#include <array>

namespace coalprof {
namespace {

NameList letters(std::size_t most, const char* names) {
    NameList list(most);
    for (const char* name = names; *name != 0; ++name) list.add(std::string_view(name, 1));
    return list;
}

TEST(NameList, tells_all_names_where_there_is_room) {
    EXPECT_EQ(letters(3, "").text(), "");
    EXPECT_EQ(letters(3, "a").text(), "a");
    EXPECT_EQ(letters(3, "abc").text(), "a, b, c");
}

TEST(NameList, counts_those_that_it_does_not_tell) {
    EXPECT_EQ(letters(3, "abcd").text(), "a, b, c and 1 more");
    EXPECT_EQ(letters(1, "abcdef").text(), "a and 5 more");
}

constexpr std::array<std::string_view, 11> patterns{"offset",    "stride",    "permute", "scatter",
                                                    "broadcast", "aos",       "soa",     "row",
                                                    "column",    "transpose", "indirect"};

std::string near(std::string_view word) {
    return std::string(nearest(word, patterns).value_or("(none)"));
}

TEST(Suggest, one_slip_of_each_kind_is_understood) {
    EXPECT_EQ(near("stirde"), "stride");   // two letters swapped
    EXPECT_EQ(near("ofset"), "offset");    // one missing
    EXPECT_EQ(near("offfset"), "offset");  // one too many
    EXPECT_EQ(near("strode"), "stride");   // one wrong
    EXPECT_EQ(near("stirded"), "stride");  // two slips in seven letters
    EXPECT_EQ(near("asoa"), "soa");
}

TEST(Suggest, of_two_as_near_the_one_that_begins_alike_is_taken) {
    constexpr std::array<std::string_view, 3> boards{"k20", "h100", "h200"};
    EXPECT_EQ(nearest("h20", boards), "h200");
    constexpr std::array<std::string_view, 3> capabilities{"1.1", "9.0", "10.0"};
    EXPECT_EQ(nearest("9.1", capabilities), "9.0");
}

TEST(Suggest, capitals_are_no_mistake) {
    EXPECT_EQ(near("OFFSET"), "offset");
    EXPECT_EQ(near("AoS"), "aos");
}

TEST(Suggest, the_beginning_of_one_word_only_is_understood) {
    EXPECT_EQ(near("trans"), "transpose");
    EXPECT_EQ(near("br"), "broadcast");
    EXPECT_EQ(near("in"), "indirect");
    EXPECT_EQ(near("s"), "(none)");   // too short to mean anything
    EXPECT_EQ(near("st"), "stride");  // scatter and soa begin otherwise
    constexpr std::array<std::string_view, 2> options{"--dlcm-list", "--dlcm-help"};
    EXPECT_FALSE(nearest("--dlcm", options));  // begins both
}

TEST(Suggest, what_is_far_from_everything_has_no_answer) {
    for (const std::string_view word : {"", "x", "banana", "xyz", "transistor_radio", "rw0"})
        EXPECT_EQ(near(word), "(none)") << word;
    EXPECT_FALSE(nearest("offset", {}));
}

TEST(Suggest, a_word_of_a_megabyte_costs_nothing) {
    EXPECT_EQ(near(std::string(1'000'000, 'o')), "(none)");
}

TEST(Words, are_found_whole) {
    EXPECT_TRUE(has_word("at flat block", "at") && has_word(" flat at ", "at"));
    EXPECT_TRUE(has_word("at flat block", "block"));
    EXPECT_FALSE(has_word("at block", "a") || has_word("at block", "lock"));
}

}  // namespace
}  // namespace coalprof
