#include "core/runtime/work_limits.h"

#include <gtest/gtest.h>

#include <new>

#include "core/runtime/signal.h"

namespace coalprof {
namespace {

constexpr double no_time = 1e-9;

TEST(WorkLimits, PastTheLimitOfTimeAQuestionEndsTheWork) {
    const LimitsHeld held({.seconds = no_time});
    EXPECT_THROW(stop_if_asked(), LimitReached);
}

TEST(WorkLimits, NoneHoldsBeforeAndAfter) {
    { const LimitsHeld held({.seconds = no_time}); }
    EXPECT_NO_THROW(stop_if_asked());
    const LimitsHeld held({.seconds = 0});
    EXPECT_NO_THROW(stop_if_asked());
}

TEST(WorkLimits, AnAnswerBeginsTheTimeAnew) {
    LimitsHeld held({.seconds = 3600});
    EXPECT_FALSE(held.has_answered());
    held.answered();
    EXPECT_TRUE(held.has_answered());
    EXPECT_NO_THROW(stop_if_asked());
}

TEST(WorkLimits, SayHowFarTheInnermostWorkIs) {
    EXPECT_EQ(work_state().what, "");
    const CountedWork outer("compiling");
    {
        CountedWork inner("blocks executed", 12);
        inner.add(3);
        inner.add(2);
        const LimitsHeld held({.seconds = no_time});
        try {
            stop_if_asked();
            FAIL() << "there was time left";
        } catch (const LimitReached& reached) {
            EXPECT_EQ(reached.state.what, "blocks executed");
            EXPECT_EQ(reached.state.done, 5u);
            EXPECT_EQ(reached.state.all, 12u);
        }
    }
    EXPECT_EQ(work_state().what, "compiling");
    EXPECT_EQ(work_state().all, 0u);
}

#ifndef COALPROF_SANITIZED  // which do not throw where there is no memory
TEST(WorkLimits, PastTheLimitOfMemoryAllocationsFail) {
    // Memory that nobody writes costs none. Unlike a new-expression, the call is never left out.
    constexpr std::size_t much = std::size_t{4} << 30;
    const auto take = [] { ::operator delete(::operator new(much)); };
    EXPECT_NO_THROW(take());
    {
        const LimitsHeld held({.bytes = 1u << 20});
        EXPECT_THROW(take(), std::bad_alloc);
    }
    EXPECT_NO_THROW(take());
}
#endif

}  // namespace
}  // namespace coalprof
