// The time and the memory that a command may take before it answers. Work whose length depends on
// the user's files does two things:
//
// - It asks stop_if_asked() (core/runtime/signal.h) every few milliseconds, which throws
//   LimitReached past the limit of time. Memory needs no question: past its limit allocations
//   throw bad_alloc.
// - It counts what it does, so that the progress line and the sentence at the limit can say how
//   long the whole takes:
//
//       CountedWork blocks("blocks executed", launch.blocks());   ...   blocks.add(1);
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace coalprof {

// The innermost CountedWork.
struct WorkState {
    std::string what;  // "blocks executed"; where `all` is 0 "compiling app.cu"
    std::uint64_t done = 0;
    std::uint64_t all = 0;  // 0: not known
    double seconds = 0;     // time since it began
};
WorkState work_state();

// Work that the thread which waits for it describes; within another it hides that one.
class CountedWork {
 public:
    explicit CountedWork(std::string what, std::uint64_t all = 0);
    ~CountedWork();
    CountedWork(const CountedWork&) = delete;
    CountedWork& operator=(const CountedWork&) = delete;
    // From any thread.
    void add(std::uint64_t done) noexcept { done_.fetch_add(done, std::memory_order_relaxed); }

 private:
    friend WorkState work_state();
    std::string what_;
    std::uint64_t all_;
    std::atomic<std::uint64_t> done_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    CountedWork* outer_;
};

struct WorkLimits {
    double seconds = 0;       // 0: no limit
    std::uint64_t bytes = 0;  // limit of memory; 0: no limit
};

// No Error, as this room makes no sentences: cli/limited_work.h does.
struct LimitReached {
    WorkState state;
};

// While it lives its limits hold, also for programs that are started; one at a time.
class LimitsHeld {
 public:
    explicit LimitsHeld(const WorkLimits& limits);
    ~LimitsHeld();
    LimitsHeld(const LimitsHeld&) = delete;
    LimitsHeld& operator=(const LimitsHeld&) = delete;
    // The user got an answer: the time for the next one begins.
    void answered();
    bool has_answered() const { return has_answered_; }
    // For the next of several parts of the work.
    void begin_time() const;
    double seconds() const { return seconds_; }  // the limit of time

 private:
    bool has_answered_ = false;
    double seconds_;
    std::uint64_t bytes_before_;  // 0: unchanged
};

// Throws LimitReached past the limit of time; stop_if_asked() calls it.
void require_time_left();

}  // namespace coalprof
