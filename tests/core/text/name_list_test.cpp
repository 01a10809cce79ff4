#include "core/text/name_list.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace coalprof
