#include <gtest/gtest.h>

#include "core/text/fold.h"

namespace coalprof {
namespace {

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
