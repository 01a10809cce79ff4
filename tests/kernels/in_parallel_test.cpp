#include "kernels/in_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace coalprof {
namespace {

using Part = std::pair<std::uint64_t, std::uint64_t>;

std::vector<Part> parts_of(std::uint64_t count) {
    std::mutex mutex;
    std::vector<Part> parts;
    in_parallel(count, [&](std::uint64_t first, std::uint64_t last) {
        const std::lock_guard lock(mutex);
        parts.emplace_back(first, last);
    });
    std::sort(parts.begin(), parts.end());
    return parts;
}

TEST(InParallel, covers_every_index_once_and_starts_parts_at_whole_warps) {
    for (const std::uint64_t count :
         {1ull, 1ull << 16, (1ull << 17) + 1, (1ull << 20) + 33, 999'999ull}) {
        std::uint64_t next = 0;
        for (const auto& [first, last] : parts_of(count)) {
            EXPECT_EQ(first, next) << count;
            EXPECT_EQ(first % 32, 0u) << count;
            EXPECT_LT(first, last) << count;
            next = last;
        }
        EXPECT_EQ(next, count);
    }
}

TEST(InParallel, takes_a_short_loop_as_one_and_a_long_one_apart) {
    EXPECT_EQ(parts_of(1 << 16).size(), 1u);
    // 1 Mi is enough for more parts than this machine has processors, up to eight.
    const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
    EXPECT_EQ(parts_of(1 << 20).size(), std::min<std::size_t>(processors, 8));
}

}  // namespace
}  // namespace coalprof
