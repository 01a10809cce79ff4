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

}  // namespace
}  // namespace coalprof
