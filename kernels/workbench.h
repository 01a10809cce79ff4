// The common parts of all launches on one device: the device, its kernels, reused memory, the
// clock. Launches hold a reference to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/device/device.h"
#include "kernels/compiler.h"
#include "kernels/gpu.h"
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

// The L2 fetch granularity of the context: bytes, a hint that the driver rounds.
class FetchLimit {
 public:
    explicit FetchLimit(const Gpu& gpu);
    ~FetchLimit();  // restores the earlier value
    FetchLimit(const FetchLimit&) = delete;
    FetchLimit& operator=(const FetchLimit&) = delete;

    // None: the driver's default. Throws PointError if the device cannot set it.
    void set(std::optional<std::uint32_t> bytes);
    // As read back; nothing if unknown.
    std::optional<std::uint64_t> current() const;

 private:
    const Gpu& gpu_;
    std::optional<std::uint64_t> original_;
    std::optional<std::uint32_t> asked_;
};

// An arena that is returned when its launch ends.
class ArenaLease {
 public:
    explicit ArenaLease(Arena& arena) : arena_(&arena) { arena.in_use = true; }
    ~ArenaLease() { arena_->in_use = false; }
    ArenaLease(const ArenaLease&) = delete;
    ArenaLease& operator=(const ArenaLease&) = delete;
    Arena* operator->() const { return arena_; }

 private:
    Arena* arena_;
};

struct Workbench {
    Workbench(const DriverApi& api, CUdevice device, DeviceFacts about, Compiler& compiler);

    // A free arena of this kind. Consecutive launches get the same one.
    Arena& free_arena(Allocation allocation);
    // Frees the memory that no living launch uses.
    void drop_idle_memory();
    // The settings that the driver uses for a kernel of `code` in a launch of this size.
    LaunchSettings settings_of(const Kernel& kernel, const CompileRequest& code,
                               const LaunchSize& size);

    // Times the launches of `enqueue`, each after a flush of L2 or a pause.
    Timing time(std::uint64_t repeats, CacheState before, const std::function<void()>& enqueue);

    Gpu gpu;
    DeviceFacts facts;
    KernelShop shop;
    CacheControl cache;
    Stopwatch stopwatch;
    FetchLimit fetch_limit;
    std::vector<std::unique_ptr<Arena>> arenas;
};

}  // namespace coalprof
