// Objects that are kept from one use to the next.
#include <gtest/gtest.h>

#include <new>

#include "core/runtime/parallel.h"

namespace coalprof {
namespace {

TEST(Spares, are_used_again_and_never_by_two) {
    Spares<int> spares;
    const int* first = nullptr;
    {
        const Spares<int>::Lent one(spares);
        const Spares<int>::Lent other(spares);
        first = &other.get();
        EXPECT_NE(&one.get(), first);
    }
    const Spares<int>::Lent again(spares);
    const Spares<int>::Lent other(spares);
    EXPECT_TRUE(&again.get() == first || &other.get() == first);
    EXPECT_NE(&again.get(), &other.get());
}

TEST(Spares, that_cannot_be_made_fail_once) {
    static bool is_short = true;
    struct Large {
        Large() {
            if (is_short) throw std::bad_alloc();
        }
    };
    Spares<Large> spares;
    EXPECT_THROW(Spares<Large>::Lent{spares}, std::bad_alloc);
    is_short = false;
    EXPECT_NO_THROW(Spares<Large>::Lent{spares});
}

}  // namespace
}  // namespace coalprof
