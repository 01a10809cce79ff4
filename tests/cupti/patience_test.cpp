#include <gtest/gtest.h>

#include "cupti/attach/launch_turn.h"

namespace coalprof {
namespace {

using Time = Patience::Time;

TEST(Patience, with_a_kernel_that_ran_on_is_at_an_end_and_with_others_half_as_long) {
    Patience patience(Time(1600));
    EXPECT_EQ(patience.with_kernel("k"), Time(1600));
    for (int i = 0; i < 2; ++i) patience.kernel_ran_on("waits");
    EXPECT_EQ(patience.with_kernel("waits"), Time(0));
    EXPECT_EQ(patience.with_kernel("k"), Time(800));
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) patience.kernel_ran_on(name);
    EXPECT_EQ(patience.with_kernel("k"), Time(100));  // a sixteenth, at least
}

// A kernel that ran on may well hold up its context.
TEST(Patience, with_a_context_is_a_tenth_when_a_kernel_ran_on) {
    Patience patience(Time(1600));
    EXPECT_EQ(patience.with_context(), Time(1600));
    patience.kernel_ran_on("waits");
    EXPECT_EQ(patience.with_context(), Time(160));
}

TEST(Patience, with_a_context_that_runs_on_halves_but_not_at_the_end) {
    Patience patience(Time(1600));
    patience.context_ran_on();
    EXPECT_EQ(patience.with_context(), Time(800));
    EXPECT_EQ(patience.at_the_end(), Time(800));
    for (int i = 0; i < 20; ++i) patience.context_ran_on();
    EXPECT_EQ(patience.with_context(), Patience::short_wait);
    EXPECT_EQ(patience.at_the_end(), Time(160));
}

}  // namespace
}  // namespace coalprof
