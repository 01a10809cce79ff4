// How long it is waited for kernels. One that takes longer is taken for one that waits for another
// kernel or for the program, and would wait for as long as we do.
#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

namespace coalprof {

class Patience {
 public:
    using Time = std::chrono::milliseconds;
    explicit Patience(Time longest) : longest_(longest), kernel_(longest), context_(longest) {}

    // With a kernel that is counted. One that has run on would do so again.
    Time with_kernel(const std::string& name) const {
        return ran_on_.contains(name) ? Time(0) : kernel_;
    }
    // With all that a context was given.
    Time with_context() const { return context_; }
    // The same where there is no other time to fetch what was counted.
    Time at_the_end() const { return std::max(context_, longest_ / 10); }

    // Without an end to it ordinary kernels would be given up.
    void kernel_ran_on(const std::string& name) {
        if (!ran_on_.insert(name).second) return;
        kernel_ = std::max(kernel_ / 2, longest_ / 16);
        context_ = std::min(context_, std::max(longest_ / 10, short_wait));
    }
    void context_ran_on() { context_ = std::max(context_ / 2, short_wait); }

    // Where there is another time.
    static constexpr Time short_wait{1};

 private:
    Time longest_;
    Time kernel_;
    Time context_;
    std::set<std::string> ran_on_;
};

}  // namespace coalprof
