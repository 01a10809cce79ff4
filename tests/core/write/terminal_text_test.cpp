#include "core/write/terminal_text.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

std::string folded(std::string_view text, std::size_t width) {
    TextBuffer out;
    put_folded(out, text, width, 2);
    return std::string(out.view());
}

TEST(TerminalText, counts_columns_not_bytes) {
    EXPECT_EQ(columns_of_text("plain"), 5u);
    EXPECT_EQ(columns_of_text("caf\xC3\xA9"), 4u);
    EXPECT_EQ(columns_of_text("\xE6\xBC\xA2"), 2u);  // a wide character
}

TEST(TerminalText, cuts_with_a_mark) {
    EXPECT_EQ(cell_text("short", 5, false), "short");
    EXPECT_EQ(cell_text("longer", 5, false), "long…");
    EXPECT_EQ(cell_text("longer", 5, true), "lo...");
    EXPECT_EQ(cell_text("longer", 2, true), "..");
}

TEST(TerminalText, never_cuts_a_character_in_two) {
    // Three wide characters are six columns; five hold two of them and the mark.
    EXPECT_EQ(cell_text("\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", 5, false),
              "\xE6\xBC\xA2\xE6\xBC\xA2…");
}

TEST(TerminalText, folds_at_blanks_and_indents) {
    EXPECT_EQ(folded("one two three", 7), "one two\n  three\n");
    EXPECT_EQ(folded("one two three", 0), "one two three\n");
    EXPECT_EQ(folded("unbreakable", 4), "unbreakable\n");
    EXPECT_EQ(folded("", 4), "\n");
}

}  // namespace
}  // namespace coalprof
