// Which thread's launch is being counted. From its call until it returns no other thread may
// launch: that kernel would be counted with it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace coalprof {

// All of it under one lock, which is not held while the program is in its launch.
class LaunchTurn {
 public:
    // `patience`: with a launch that may never return, as its thread has ended or waits for
    // another.
    explicit LaunchTurn(std::chrono::milliseconds patience) : patience_(patience) {}

    // Waits, without the lock, until no other thread has the turn. Whether it is free then; if not,
    // the caller may end it in the other's place.
    bool wait(std::unique_lock<std::mutex>& lock);
    void take() {
        owner_ = std::this_thread::get_id();
        ++turns_;
    }
    void end();
    bool is_free() const { return owner_ == std::thread::id(); }
    std::thread::id owner() const { return owner_; }
    bool is_mine() const { return owner_ == std::this_thread::get_id(); }

 private:
    std::chrono::milliseconds patience_;
    std::condition_variable ended_;
    std::thread::id owner_;
    std::uint64_t turns_ = 0;
};

}  // namespace coalprof
