// Time by events: the duration of launches, with the state of L2 under control.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/device/device.h"
#include "kernels/kernel.h"
#include "kernels/memory.h"

namespace coalprof {

// Median, quartiles (interpolated between neighbours) and extremes. `seconds` must not be empty.
Timing summarize(std::vector<double> seconds);

// Brings L2 into a known state. Its buffer is allocated at the first use.
class CacheControl {
 public:
    CacheControl(KernelShop& shop, const DeviceFacts& facts);

    // Enqueue; neither waits.
    void flush();                    // evicts L2's content and leaves clean lines
    void pause();                    // keeps the GPU busy a little, without touching memory
    void pause_for(double seconds);  // likewise
    // The kernel to compile for it.
    static CompileRequest request();

 private:
    KernelShop& shop_;
    std::uint64_t buffer_bytes_;
    double cycles_per_second_;
    std::uint64_t flush_blocks_;
    std::optional<Buffer> buffer_;
};

class Stopwatch {
 public:
    Stopwatch(const Gpu& gpu, CacheControl& cache) : gpu_(gpu), cache_(cache) {}
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    // Seconds of each of `repeats` executions of the launches that `work` enqueues; `before`
    // enqueues launches that are not timed. Nothing is timed before the host has enqueued all of a
    // round, so that its pace does not change the times; a round that came too late is repeated. A
    // host that is late however long the GPU is held (CUDA_LAUNCH_BLOCKING=1) gets the times
    // measured then.
    std::vector<double> measure(std::uint64_t repeats, const std::function<void()>& before,
                                const std::function<void()>& work);

 private:
    void make_events(std::size_t count);
    // Rounds have this many repetitions. False: the GPU had begun before the host was done.
    bool enqueue_round(std::size_t repeats, double hold_seconds,
                       const std::function<void()>& before, const std::function<void()>& work);
    double elapsed_seconds(std::size_t repeat);

    const Gpu& gpu_;
    CacheControl& cache_;
    std::vector<CUevent> events_;
};

}  // namespace coalprof
