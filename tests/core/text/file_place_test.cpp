#include <gtest/gtest.h>

#include "core/text/files_in_use.h"

namespace coalprof {
namespace {

TEST(FilePlaces, count_lines_and_bytes_from_one) {
    PlaceFinder places("ab\n\ncd");
    const auto shown = [&](std::size_t offset) { return text_of("f", places.at(offset)); };
    EXPECT_EQ(shown(0), "f:1:1");
    EXPECT_EQ(shown(2), "f:1:3");  // the line end belongs to its line
    EXPECT_EQ(shown(3), "f:2:1");
    EXPECT_EQ(shown(5), "f:3:2");
    EXPECT_EQ(shown(6), "f:3:3");  // the end of the text
    EXPECT_EQ(shown(1), "f:1:2");  // and back again
    EXPECT_EQ(shown(4), "f:3:1");
}

TEST(TextPlaces, tell_where_the_caret_of_an_error_stands_in_the_file) {
    const TextPlace place{"f.json", {{3, 9}, {3, 10}, {4, 1}, {4, 2}}};
    const UsageError inside("wrong", "abc", 2, "a hint");
    EXPECT_STREQ(place.located(inside, "abc").what(), "f.json:4:1: wrong");
    EXPECT_EQ(place.located(inside, "abc").caret(), 2u);
    EXPECT_EQ(place.located(inside, "abc").hint(), "a hint");
    // Right behind the text, as where something is missing.
    EXPECT_STREQ(place.located({"wrong", "abc", 3, ""}, "abc").what(), "f.json:4:2: wrong");
    // Of another text, or without a caret: the text begins there.
    EXPECT_STREQ(place.located({"wrong", "xyz", 2, ""}, "abc").what(), "f.json:3:9: wrong");
    EXPECT_STREQ(place.located(UsageError("wrong"), "abc").what(), "f.json:3:9: wrong");
}

}  // namespace
}  // namespace coalprof
