// Time by events: how long launches take, with what they find in L2 under control.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/device/device.h"
#include "kernels/kernel.h"
#include "kernels/memory.h"

namespace coalprof {

// Median, quartiles (interpolated between neighbours) and extremes. `seconds` must not be empty.
Timing summarize(std::vector<double> seconds);

// Brings L2 into a known state. The buffer it needs is allocated at the first use.
class CacheControl {
 public:
    CacheControl(KernelShop& shop, const DeviceFacts& facts);

    // Enqueue; neither waits.
    void flush();  // throws away what L2 holds and leaves clean lines behind
    void pause();  // keeps the GPU busy a little, without touching memory
    // What has to be compiled for it.
    static CompileRequest request();

 private:
    KernelShop& shop_;
    std::uint64_t buffer_bytes_;
    long long pause_cycles_;
    std::uint64_t flush_blocks_;
    Buffer buffer_;
};

class Stopwatch {
 public:
    explicit Stopwatch(const Gpu& gpu) : gpu_(gpu) {}
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    // Seconds of each of `repeats` executions of what `work` enqueues; `before` enqueues what is
    // not timed. The host runs ahead of the GPU, so that no gap of its making is timed.
    std::vector<double> measure(std::uint64_t repeats, const std::function<void()>& before,
                                const std::function<void()>& work);

 private:
    void make_events(std::size_t count);

    const Gpu& gpu_;
    std::vector<CUevent> events_;
};

}  // namespace coalprof
