#include "core/write/safe_text.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

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

}  // namespace
}  // namespace coalprof
