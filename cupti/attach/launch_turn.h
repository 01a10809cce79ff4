// The thread whose launch is being counted. From its call until it returns no other thread may
// launch: that kernel would be counted with it.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace coalprof {

// Called under one lock, which is not held during the program's launch.
class LaunchTurn {
 public:
    // `patience`: limit for a launch that may never return, as its thread has ended or waits for
    // another.
    explicit LaunchTurn(std::chrono::milliseconds patience) : patience_(patience) {}

    // Waits, without the lock, until no other thread is counting. Returns true if so; if not, the
    // caller may end it in the other's place.
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

// The wait for kernels is limited. One that takes longer is assumed to wait for another kernel or
// for the program, and would wait for as long as we do.

class Patience {
 public:
    using Time = std::chrono::milliseconds;
    explicit Patience(Time longest) : longest_(longest), kernel_(longest), context_(longest) {}

    // The wait for a counted kernel. One that ran on before would do so again.
    Time with_kernel(const std::string& name) const {
        return ran_on_.contains(name) ? Time(0) : kernel_;
    }
    // The wait for all work of a context.
    Time with_context() const { return context_; }
    // The same where there is no other time to fetch the counts.
    Time at_the_end() const { return std::max(context_, longest_ / 10); }

    // Halves the wait down to a limit, below which ordinary kernels would be abandoned.
    void kernel_ran_on(const std::string& name) {
        if (!ran_on_.insert(name).second) return;
        kernel_ = std::max(kernel_ / 2, longest_ / 16);
        context_ = std::min(context_, std::max(longest_ / 10, short_wait));
    }
    void context_ran_on() { context_ = std::max(context_ / 2, short_wait); }

    // If there will be another chance.
    static constexpr Time short_wait{1};

 private:
    Time longest_;
    Time kernel_;
    Time context_;
    std::set<std::string> ran_on_;
};

// The streams whose launches are being recorded into graphs. While there is one, nothing may be
// copied from the GPU and no other stream be asked: that could spoil the graph. Everything is
// called under one lock, which must be held while copying or asking.
class StreamCaptures {
 public:
    using IsCapturing = decltype(&::cuStreamIsCapturing);
    // nullptr: the driver cannot be asked.
    explicit StreamCaptures(IsCapturing is_capturing) : is_capturing_(is_capturing) {}

    // Around a call of cuStreamBeginCapture: capturing counts from its beginning.
    void begins() { ++beginning_; }
    void has_begun(CUcontext context, CUstream stream, bool succeeded);
    // After cuStreamEndCapture, whatever it returned: an error ends an invalidated recording, but
    // not one of another thread.
    void may_have_ended(CUstream stream);
    // Called without cuStreamEndCapture.
    void stream_ends(CUstream stream);
    void context_ends(CUcontext context);

    bool any() const { return beginning_ > 0 || !streams_.empty(); }

 private:
    // CU_STREAM_PER_THREAD is another stream in each thread.
    using Stream = std::pair<CUstream, std::thread::id>;
    static Stream in_this_thread(CUstream stream);

    IsCapturing is_capturing_;
    std::map<Stream, CUcontext> streams_;
    std::size_t beginning_ = 0;  // calls that have not returned
};

}  // namespace coalprof
