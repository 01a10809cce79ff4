#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "kernels/expectation.h"

namespace coalprof {
namespace {

bool is_done(const std::shared_future<void>& answer) {
    return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Checks that are slow enough to be overtaken by whoever does not wait for them.
void dawdle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

// More than go on at a time: each still finds its own bytes, not those of a later one.
TEST(HostChecks, keep_what_they_compare_until_they_are_done) {
    for (const unsigned processors : {1u, 2u, 3u, 64u}) {
        HostChecks checks(processors);
        std::vector<std::shared_future<void>> answers;
        for (int k = 0; k < 12; ++k) {
            const std::span<std::byte> room = checks.room(1000);
            EXPECT_EQ(room.size(), 1000u);
            std::fill(room.begin(), room.end(), static_cast<std::byte>(k));
            answers.push_back(checks.start([room, k] {
                dawdle();
                if (std::count(room.begin(), room.end(), static_cast<std::byte>(k)) != 1000)
                    throw std::runtime_error("bytes of another check");
            }));
        }
        for (const auto& answer : answers) EXPECT_NO_THROW(answer.get()) << processors;
    }
}

TEST(HostChecks, answer_with_what_went_wrong) {
    for (const unsigned processors : {1u, 64u}) {
        HostChecks checks(processors);
        checks.room(1);
        const auto bad = checks.start([] { throw std::runtime_error("wrong"); });
        checks.room(1);
        const auto good = checks.start([] {});
        EXPECT_THROW(bad.get(), std::runtime_error);
        EXPECT_NO_THROW(good.get());
    }
}

// What they compare belongs to their owner: none may go on when that ends.
TEST(HostChecks, are_done_when_their_owner_ends) {
    for (const unsigned processors : {1u, 64u}) {
        std::shared_future<void> answer;
        {
            HostChecks checks(processors);
            checks.room(1);
            answer = checks.start(dawdle);
        }
        EXPECT_TRUE(is_done(answer)) << processors;
    }
}

TEST(HostChecks, are_all_done_when_they_are_finished) {
    HostChecks checks(64);
    std::vector<std::shared_future<void>> answers;
    for (int k = 0; k < 3; ++k) {
        checks.room(1);
        answers.push_back(checks.start(dawdle));
    }
    checks.finish();
    for (const auto& answer : answers) EXPECT_TRUE(is_done(answer));
}

}  // namespace
}  // namespace coalprof
