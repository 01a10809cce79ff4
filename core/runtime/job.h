// Work in numbered items that threads take one by one; the basis of parallel.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace coalprof {

// Called before a thread takes work: tests delay it there. No result may depend on it.
inline std::atomic<void (*)()> taking_hook{nullptr};
inline void call_taking_hook() {
    if (auto* const hook = taking_hook.load(std::memory_order_relaxed)) hook();
}

// The items of a job that no thread has taken.
class Items {
 public:
    explicit Items(std::uint64_t count) : count_(count) {}

    // Takes items, lowest first, and calls work(item) until none is left. After an exception no
    // further items are handed out.
    template <typename Work>
    void each(Work work) {
        for (std::uint64_t item = take(); item < count_; item = take()) {
            try {
                work(item);
            } catch (...) {
                fail(item, std::current_exception());
            }
        }
    }
    std::uint64_t left() const;
    void drop() { next_.store(count_, std::memory_order_relaxed); }
    // Keeps the exception of the lowest item: lower ones were handed out before it, so it is the
    // one that a single thread would have seen.
    void fail(std::uint64_t item, std::exception_ptr failure);
    void rethrow_failure() const;

 private:
    std::uint64_t take() {
        call_taking_hook();
        return next_.fetch_add(1, std::memory_order_relaxed);
    }

    alignas(64) std::atomic<std::uint64_t> next_{0};  // a cache line that all takers write
    alignas(64) const std::uint64_t count_;
    std::mutex failing_;
    std::uint64_t failed_item_ = ~0ull;
    std::exception_ptr failure_;
};

// Every thread that takes part calls `take_part`, which goes through the items. Idle threads come
// without being asked once the job exists; none need come.
class Job {
 public:
    Job(std::uint64_t items, std::function<void(Items&)> take_part);
    // Items that were not begun are dropped.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    // Takes part until all items are done. Rethrows the exception of the first item that failed.
    void finish();

 private:
    friend class Pool;
    void take_part() noexcept;
    void close();

    Items items_;
    std::function<void(Items&)> take_part_;
    unsigned depth_;  // 1, or 1 more than that of the surrounding job
    bool is_open_ = false;
    unsigned helpers_ = 0;  // threads that take part, without the owner; the pool's lock guards it
};

}  // namespace coalprof
