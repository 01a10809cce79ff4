#include "kernels/host_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace coalprof {
namespace {

// More than go on at a time: each still finds its own bytes, not those of a later one.
TEST(HostChecks, keep_what_they_compare_until_they_are_done) {
    HostChecks checks;
    std::vector<std::shared_future<void>> answers;
    std::atomic<int> right = 0;
    for (int k = 0; k < 50; ++k) {
        const std::span<std::byte> room = checks.room(1000);
        EXPECT_EQ(room.size(), 1000u);
        std::fill(room.begin(), room.end(), static_cast<std::byte>(k));
        answers.push_back(checks.start([room, k, &right] {
            right += std::all_of(room.begin(), room.end(),
                                 [k](std::byte byte) { return byte == static_cast<std::byte>(k); });
        }));
    }
    for (const auto& answer : answers) answer.get();
    EXPECT_EQ(right, 50);
}

TEST(HostChecks, answer_with_what_went_wrong) {
    HostChecks checks;
    checks.room(1);
    const auto bad = checks.start([] { throw std::runtime_error("wrong"); });
    checks.room(1);
    const auto good = checks.start([] {});
    EXPECT_THROW(bad.get(), std::runtime_error);
    EXPECT_NO_THROW(good.get());
}

TEST(HostChecks, are_done_when_their_owner_ends) {
    std::atomic<bool> is_done = false;
    {
        HostChecks checks;
        checks.room(1);
        checks.start([&is_done] { is_done = true; });
    }
    EXPECT_TRUE(is_done);
}

}  // namespace
}  // namespace coalprof
