#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/result/result.h"

namespace coalprof {
namespace {

TEST(Limit, is_found_by_its_name) {
    for (std::size_t i = 0; i < limit_count; ++i) {
        const auto limit = static_cast<Limit>(i);
        EXPECT_EQ(find_limit(name_of(limit)), limit);
        EXPECT_FALSE(phrase_of(limit).empty());
    }
    EXPECT_FALSE(find_limit("speed"));
}

}  // namespace
}  // namespace coalprof
