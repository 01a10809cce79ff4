#include "core/text/fold.h"

#include <gtest/gtest.h>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

using Lines = std::vector<std::string>;

TEST(Fold, breaks_at_blanks) {
    EXPECT_EQ(folded("one two three", {.columns = 7}), (Lines{"one two", "three"}));
    EXPECT_EQ(folded("one two three", {.columns = 6}), (Lines{"one", "two", "three"}));
    EXPECT_EQ(folded("one two three", {}), (Lines{"one two three"}));  // no limit
}

TEST(Fold, counts_the_indent_to_the_line) {
    EXPECT_EQ(folded("one two three", {.columns = 9, .indent = 2}),
              (Lines{"  one two", "  three"}));
    EXPECT_EQ(folded("one two three four", {.columns = 10, .hanging = 2}),
              (Lines{"one two", "  three", "  four"}));
}

TEST(Fold, a_word_longer_than_a_line_stands_over_it_or_is_cut) {
    EXPECT_EQ(folded("a unbreakable b", {.columns = 4}), (Lines{"a", "unbreakable", "b"}));
    EXPECT_EQ(folded("a abcdefgh ij", {.columns = 3, .cuts_words = true}),
              (Lines{"a", "abc", "def", "gh", "ij"}));
    // Two columns each, and never half of one, even where there is no room.
    EXPECT_EQ(folded("\xE6\xBC\xA2\xE6\xBC\xA2", {.columns = 1, .cuts_words = true}),
              (Lines{"\xE6\xBC\xA2", "\xE6\xBC\xA2"}));
}

TEST(Fold, keeps_wide_blanks_within_a_line_and_none_at_its_beginning) {
    EXPECT_EQ(folded("=  they agree", {.columns = 7}), (Lines{"=  they", "agree"}));
    EXPECT_EQ(folded("one  two", {.columns = 4}), (Lines{"one ", "two"}));
}

TEST(Fold, breaks_no_quotation_and_no_command_where_these_are_kept) {
    const auto kept = [](std::string_view text, std::size_t columns) {
        return folded(text, {.columns = columns, .keeps_commands = true});
    };
    EXPECT_EQ(kept("no 'a b c' here", 8), (Lines{"no", "'a b c'", "here"}));
    EXPECT_EQ(kept("try `coalprof run -- app`, then", 12),
              (Lines{"try", "`coalprof run -- app`,", "then"}));
    EXPECT_EQ(kept("a warp's b it's", 6), (Lines{"a", "warp's", "b it's"}));
    EXPECT_EQ(kept("an open 'a b", 6), (Lines{"an", "open", "'a b"}));
    EXPECT_EQ(kept("add: --arg n=1 --arg 'x=f32[2] y' and", 9),
              (Lines{"add:", "--arg n=1 --arg 'x=f32[2] y'", "and"}));
    EXPECT_EQ(kept("give --grid, --block", 12), (Lines{"give --grid,", "--block"}));
}

TEST(Fold, ends_each_line_of_a_text) {
    EXPECT_EQ(folded_text("one two", {.columns = 3}), "one\ntwo\n");
    EXPECT_EQ(folded_text("", {.columns = 3}), "\n");
}

TEST(Fold, counts_columns_not_bytes) {
    EXPECT_EQ(terminal_columns("plain"), 5u);
    EXPECT_EQ(terminal_columns("caf\xC3\xA9"), 4u);
    EXPECT_EQ(terminal_columns("\xE6\xBC\xA2"), 2u);    // a wide character
    EXPECT_EQ(terminal_columns("\xE2\x9C\x85ok"), 4u);  // U+2705, an emoji of an old block
    EXPECT_EQ(terminal_columns("e\xCC\x81"), 1u);       // a combining mark
    EXPECT_EQ(beginning("\xE6\xBC\xA2\xE6\xBC\xA2", 3), "\xE6\xBC\xA2");
}

// 12 points in 3 s are 4 a second; 21 more take 5.25 s.
TEST(ProgressText, says_what_is_done_how_fast_and_what_is_left) {
    EXPECT_EQ(progress_text(12, 33, 3), "12 of 33 points, 4 a second, 6 s left");
    EXPECT_EQ(progress_text(33, 33, 3), "33 of 33 points, 11 a second");
    EXPECT_EQ(progress_text(1, 100'000, 10), "1 of 100000 points, 0.1 a second, 278 h left");
}

TEST(ProgressText, leaves_out_what_is_not_known) {
    EXPECT_EQ(progress_text(0, 16, 2), "0 of 16 points, 2 s");
    EXPECT_EQ(progress_text(12'000, std::nullopt, 3), "12000 points, 4000 a second");
}

}  // namespace
}  // namespace coalprof
