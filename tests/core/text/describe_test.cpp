#include "core/text/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

using testing::EndsWith;
using testing::StartsWith;

// The line with the text and the one with the caret, without the indentation of two.
struct Pointed {
    std::string text;
    std::size_t caret = 0;
};

Pointed pointed(const std::string& text, std::size_t caret) {
    const std::string lines = describe(UsageError("no", text, caret, ""));
    const std::string head = "coalprof: no\n  ";
    EXPECT_THAT(lines, StartsWith(head));
    const std::size_t end = lines.find('\n', head.size());
    const std::size_t mark = lines.find('^', end);
    EXPECT_EQ(lines.substr(mark), "^\n");
    return {lines.substr(head.size(), end - head.size()), mark - end - 3};
}

TEST(Describe, a_usage_error_has_a_sentence_a_text_a_caret_and_a_hint) {
    const UsageError error("--range 0..x: expected an integer after '..'", "0..x", 3,
                           "values look like 7, 1,2,4, 0..32, 0..128:4 or 1..1024*2");
    EXPECT_EQ(describe(error),
              "coalprof: --range 0..x: expected an integer after '..'\n"
              "  0..x\n"
              "     ^\n"
              "hint: values look like 7, 1,2,4, 0..32, 0..128:4 or 1..1024*2\n");
}

TEST(Describe, no_control_byte_of_a_sentence_reaches_the_terminal) {
    EXPECT_EQ(describe(UsageError("a\nb\x1b[2J", "", 0, "c\x07")),
              "coalprof: a\\x0ab\\x1b[2J\nhint: c\\x07\n");
}

TEST(Describe, a_caret_counts_columns_and_not_bytes) {
    EXPECT_EQ(pointed("\u00e4\u00f6=x", 5).caret, 3u);  // two letters of two bytes
    EXPECT_EQ(pointed("\u4e2d\u6587=x", 7).caret, 5u);  // two letters of two columns
    EXPECT_EQ(pointed("e\u0301=x", 4).caret, 2u);       // e and a combining accent: one column
    EXPECT_EQ(pointed("\U0001f600=x", 5).caret, 3u);    // an emoji: two columns
    EXPECT_EQ(pointed("\u00e4x", 1).caret, 0u);         // inside a letter: below that letter
}

TEST(Describe, a_caret_stays_below_its_letter_after_tabs_and_escapes) {
    const Pointed tab = pointed("a\tb\tx", 4);
    EXPECT_EQ(tab.text, "a b x");
    EXPECT_EQ(tab.caret, 4u);
    const Pointed escape = pointed("a\x01x", 2);
    EXPECT_EQ(escape.text, "a\\x01x");
    EXPECT_EQ(escape.caret, 5u);
    EXPECT_EQ(pointed("\xff\xfex", 2).caret, 8u);  // two bytes that are not UTF-8: \xff\xfe
}

TEST(Describe, a_long_text_is_cut_around_the_caret) {
    const std::string text = std::string(200, 'a') + "X" + std::string(200, 'b');
    const Pointed middle = pointed(text, 200);
    EXPECT_EQ(middle.text.size(), 80u);
    EXPECT_THAT(middle.text, StartsWith("...a"));
    EXPECT_THAT(middle.text, EndsWith("b..."));
    EXPECT_EQ(middle.text[middle.caret], 'X');

    const Pointed front = pointed("X" + text, 0);
    EXPECT_EQ(front.text.size(), 80u);
    EXPECT_THAT(front.text, EndsWith("a..."));
    EXPECT_EQ(front.caret, 0u);

    const Pointed back = pointed(text, text.size() - 1);
    EXPECT_EQ(back.text.size(), 80u);
    EXPECT_THAT(back.text, StartsWith("...b"));
    EXPECT_THAT(back.text, EndsWith("bbb"));
    EXPECT_EQ(back.caret, 79u);

    const Pointed behind = pointed(text, text.size());
    EXPECT_EQ(behind.text.size(), 80u);
    EXPECT_EQ(behind.caret, 80u);
}

TEST(Describe, the_letter_above_the_caret_is_the_one_meant_wherever_the_text_is_cut) {
    // Letters that name their position: byte i is 'A' + i % 26.
    for (std::size_t length = 60; length < 200; length += 7) {
        std::string text;
        for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('A' + i % 26);
        for (std::size_t caret = 0; caret < length; ++caret) {
            const Pointed result = pointed(text, caret);
            ASSERT_LE(result.text.size(), 80u);
            ASSERT_EQ(result.text[result.caret], text[caret]) << length << ' ' << caret;
        }
    }
}

TEST(Shown, leaves_plain_text_of_80_columns_alone) {
    const std::string text(80, 'a');
    EXPECT_EQ(shown(text), text);
    EXPECT_EQ(shown("Gr\u00f6\u00dfe \u4e2d"), "Gr\u00f6\u00dfe \u4e2d");
    EXPECT_EQ(shown(""), "");
}

TEST(Shown, cuts_longer_text_to_80_columns_with_dots) {
    EXPECT_EQ(shown(std::string(81, 'a')), std::string(77, 'a') + "...");
    // Letters of two columns: 38 of them and the dots are 79 columns, a 39th would make 81.
    std::string wide, kept;
    for (int i = 0; i < 60; ++i) wide += "\u4e2d";
    for (int i = 0; i < 38; ++i) kept += "\u4e2d";
    EXPECT_EQ(shown(wide), kept + "...");
}

TEST(Shown, controls_are_escaped) {
    EXPECT_EQ(shown(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(shown("a\tb\nc\rd\x7f"), "a b\\x0ac\\x0dd\\x7f");
    EXPECT_EQ(shown("\xc2\x9b[31m"), "\\x9b[31m");           // CSI as one C1 control
    EXPECT_EQ(shown("a\u202eb"), "a\\u{202e}b");             // right-to-left override
    EXPECT_EQ(shown("\ufeff\u200b"), "\\u{feff}\\u{200b}");  // invisible
}

TEST(Shown, what_is_not_utf8_is_escaped_byte_by_byte) {
    EXPECT_EQ(shown("\xe4"), "\\xe4");                             // Latin-1
    EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");                    // overlong slash
    EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
    EXPECT_EQ(shown("\xe4\xb8"), "\\xe4\\xb8");                    // cut short
    EXPECT_EQ(shown("\xe4\xb8\xad"), "\u4e2d");
}

TEST(Shown, of_any_bytes_gives_bounded_text_that_may_be_printed) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string text(random() % 300, '\0');
        for (char& c : text) c = static_cast<char>(random());
        const std::string result = shown(text);
        ASSERT_TRUE(is_valid_utf8(result));
        ASSERT_LE(result.size(), 4 * shown_columns);
        for (const char c : result) ASSERT_FALSE(c >= 0 && (c < ' ' || c == '\x7f'));
    }
}

}  // namespace
}  // namespace coalprof
