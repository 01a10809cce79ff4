// Steps of the work and their durations, for -v. Without a watcher a step costs a look at a
// pointer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace coalprof {

// Called by whichever thread ends a step, several at a time. `count`: for one of many equal steps,
// which are reported together, the amount of work in it; 0: reported separately.
using StepWatcher = std::function<void(std::string_view what, double seconds, std::uint64_t count)>;

// Call it once, before other threads are started.
void watch_steps(StepWatcher watcher);

// Lasts until the end of its scope, however that ends.
class Step {
 public:
    // `what` as it is printed, "driver started"; it must outlive the process's steps.
    explicit Step(std::string_view what, std::uint64_t count = 0);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

 private:
    std::string_view what_;
    std::uint64_t count_;
    std::chrono::steady_clock::time_point start_{};
};

}  // namespace coalprof
