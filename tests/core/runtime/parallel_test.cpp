#include "core/runtime/parallel.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace coalprof {
namespace {

struct Total {
    std::uint64_t value = 0;
    void add(const Total& other) { value += other.value; }
};

struct Nothing {
    void add(Nothing) {}
};

template <typename Work>
void parallel_each(std::uint64_t count, const Work& work) {
    parallel_sum<Nothing>(count, [&](std::uint64_t i, Nothing&) { work(i); });
}

// Leaves the count of threads as it was.
class Threads {
 public:
    explicit Threads(unsigned count) { set_thread_count(count); }
    ~Threads() { set_thread_count(processors_of_this_process()); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
};

constexpr std::array thread_counts{1u, 2u, 3u, 8u};

// Waits, so that another thread has the time to come.
template <typename Condition>
void until(Condition condition) {
    while (!condition()) std::this_thread::yield();
}

TEST(ThreadCount, is_what_was_asked_for_and_one_a_processor_before) {
    EXPECT_EQ(thread_count(), processors_of_this_process());
    EXPECT_GE(processors_of_this_process(), 1u);
    const Threads threads(3);
    EXPECT_EQ(thread_count(), 3u);
}

TEST(ParallelEach, does_every_item_once_for_every_count_of_threads) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        for (const std::uint64_t items : {0u, 1u, 2u, 1000u}) {
            std::vector<int> done(items);
            parallel_each(items, [&](std::uint64_t i) { ++done[i]; });
            EXPECT_EQ(done, std::vector<int>(items, 1)) << count;
        }
    }
}

TEST(ParallelEach, is_shared_with_other_threads) {
    const Threads threads(4);
    std::atomic<int> begun{0};
    // Each item ends when all four have begun: no thread can do two of them.
    parallel_each(4, [&](std::uint64_t) {
        ++begun;
        until([&] { return begun == 4; });
    });
    EXPECT_EQ(begun, 4);
}

TEST(ParallelEach, leaves_signals_to_the_thread_that_was_there) {
    const Threads threads(2);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> begun{0};
    std::atomic<int> blocked{0};
    parallel_each(2, [&](std::uint64_t) {
        ++begun;
        until([&] { return begun == 2; });
        sigset_t now;
        pthread_sigmask(SIG_SETMASK, nullptr, &now);
        const bool is_blocked = sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGTERM) == 1;
        EXPECT_EQ(is_blocked, std::this_thread::get_id() != caller);
        blocked += is_blocked;
    });
    EXPECT_EQ(blocked, 1);
}

TEST(ParallelEach, throws_what_the_first_item_that_fails_throws) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        for (int attempt = 0; attempt < 30; ++attempt) {
            try {
                parallel_each(100, [](std::uint64_t i) {
                    if (i % 7 == 3) throw std::runtime_error(std::to_string(i));
                });
                FAIL() << "nothing was thrown";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "3");
            }
        }
    }
}

TEST(ParallelEach, gives_out_no_items_after_one_that_failed) {
    const Threads threads(1);
    int done = 0;
    EXPECT_THROW(parallel_each(100,
                               [&](std::uint64_t i) {
                                   ++done;
                                   if (i == 4) throw 1;
                               }),
                 int);
    EXPECT_EQ(done, 5);
}

TEST(ParallelSum, is_the_same_for_every_count_of_threads) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        for (const std::uint64_t items : {0u, 1u, 2u, 10'000u}) {
            const auto sum =
                parallel_sum<Total>(items, [](std::uint64_t i, Total& part) { part.add({i * i}); });
            // 0 + 1 + 4 + ... + (n-1)^2
            const std::uint64_t n = items;
            EXPECT_EQ(sum.value, n == 0 ? 0 : (n - 1) * n * (2 * n - 1) / 6) << count;
        }
    }
}

// Three levels of 8: 512 items of which each adds 1.
TEST(ParallelSum, goes_within_others_to_any_depth) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        for (int attempt = 0; attempt < 8; ++attempt) {
            const auto sum = parallel_sum<Total>(8, [](std::uint64_t, Total& outer) {
                outer.add(parallel_sum<Total>(8, [](std::uint64_t, Total& middle) {
                    parallel_each(4, [](std::uint64_t) { std::this_thread::yield(); });
                    middle.add(parallel_sum<Total>(
                        8, [](std::uint64_t, Total& inner) { inner.add({1}); }));
                }));
            });
            ASSERT_EQ(sum.value, 512u);
        }
    }
}

TEST(ParallelSum, never_works_in_more_threads_than_asked_for) {
    const Threads threads(3);
    std::atomic<int> working{0};
    std::atomic<int> most{0};
    parallel_each(6, [&](std::uint64_t) {
        parallel_each(6, [&](std::uint64_t) {
            const int now = ++working;
            for (int known = most; now > known && !most.compare_exchange_weak(known, now);) {
            }
            std::this_thread::yield();
            --working;
        });
    });
    EXPECT_LE(most, 3);
}

TEST(Answer, is_the_same_for_every_count_of_threads) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        std::vector<Answer<std::uint64_t>> answers;
        for (std::uint64_t i = 0; i < 100; ++i)
            answers.push_back(start_answer([i] {
                return parallel_sum<Total>(i, [](std::uint64_t k, Total& part) { part.add({k}); })
                    .value;
            }));
        for (std::uint64_t i = 0; i < answers.size(); ++i)
            EXPECT_EQ(answers[i].get(), i == 0 ? 0 : i * (i - 1) / 2);
    }
}

TEST(Answer, is_begun_by_another_thread_before_it_is_asked_for) {
    const Threads threads(2);
    std::atomic<bool> begun{false};
    auto answer = start_answer([&] { return begun.exchange(true); });
    until([&] { return begun.load(); });
    EXPECT_FALSE(answer.get());
}

TEST(Answer, throws_what_its_work_throws) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        auto answer = start_answer([]() -> int { throw std::runtime_error("no"); });
        EXPECT_THROW(answer.get(), std::runtime_error);
    }
}

TEST(Answer, that_nobody_asks_for_is_waited_for_or_not_begun) {
    for (const unsigned count : thread_counts) {
        const Threads threads(count);
        for (int attempt = 0; attempt < 20; ++attempt) {
            auto begun = std::make_unique<std::atomic<int>>(0);
            {
                const auto answer = start_answer([&] { return ++*begun; });
            }
            const int then = *begun;
            std::this_thread::yield();
            EXPECT_EQ(*begun, then);
            begun.reset();  // address sanitizer sees whoever still works
        }
    }
}

// A stack as large as the address space can be given to no thread. Run on its own, as ctest does,
// this program has no threads yet.
TEST(Threads, that_cannot_be_had_leave_the_work_to_the_caller) {
    const Threads threads(4);
    pthread_attr_t usual, huge;
    ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
    ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
    ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
    const auto sum = parallel_sum<Total>(100, [](std::uint64_t, Total& part) { part.add({1}); });
    auto answer = start_answer([] { return 7; });
    EXPECT_EQ(answer.get(), 7);
    EXPECT_EQ(sum.value, 100u);
    ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
}

}  // namespace
}  // namespace coalprof
