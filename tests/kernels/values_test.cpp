#include "kernels/source/values.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

TEST(Values, differ_from_element_to_element_and_with_the_mark_of_a_store) {
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
        std::size_t same_as_next = 0;
        for (Index e = 0; e < 1000; ++e) {
            EXPECT_NE(touched_word(bytes, e, 0, 5), untouched_word(bytes, e, 0, 5));
            same_as_next += untouched_word(bytes, e, 0, 5) == untouched_word(bytes, e + 1, 0, 5);
        }
        EXPECT_LT(same_as_next, 20u) << bytes;  // 7 bits of a byte: one in 128 by chance
    }
    // Every byte of a stored element carries the mark, so that no byte can be left out.
    EXPECT_EQ(touched_word(4, 3, 0, 5) & 0x80808080u, 0x80808080u);
    EXPECT_EQ(untouched_word(4, 3, 0, 5) & 0x80808080u, 0u);
    EXPECT_EQ(mark_of(1), 0x80u);
    EXPECT_EQ(mark_of(2), 0x8080u);
}

}  // namespace
}  // namespace coalprof
