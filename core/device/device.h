// The interfaces through which core uses a GPU. kernels/ implements KernelLauncher, cupti/
// implements CounterCollector, cli/wiring connects them; tests use fakes. Nothing here names CUDA
// types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/pattern/plan.h"
#include "core/result/result.h"
#include "core/text/error.h"

namespace coalprof {

// The facts of the measured GPU, as `coalprof devices` and results show them.
struct DeviceFacts {
    int index = 0;
    std::string name;          // "NVIDIA H200"
    std::string uuid;          // "GPU-..."
    std::string pci_bus_id;    // "0000:1b:00.0"
    int major = 0, minor = 0;  // compute capability
    std::uint32_t multiprocessors = 0;
    std::uint32_t max_threads_per_multiprocessor = 0;
    std::uint32_t max_threads_per_block = 0;
    std::uint32_t registers_per_multiprocessor = 0;
    std::uint64_t shared_bytes_per_multiprocessor = 0;
    std::uint64_t shared_bytes_per_block = 0;
    std::uint64_t shared_bytes_per_block_optin = 0;
    std::uint64_t l2_bytes = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t free_memory_bytes = 0;
    std::uint64_t clock_hz = 0;
    std::uint64_t memory_clock_hz = 0;
    std::uint32_t memory_bus_bits = 0;
    bool ecc = false;
    bool global_l1_cache = false;
    bool local_l1_cache = false;
    std::uint32_t driver_version = 0;  // 13000 is 13.0
    std::uint32_t nvrtc_version = 0;

    // Peak of device memory. Two transfers a clock, as for every memory from GDDR3 to HBM3.
    double peak_bytes_per_second() const {
        return 2.0 * static_cast<double>(memory_clock_hz) * memory_bus_bits / 8;
    }
};

// The readings of kernels that read the clock of their multiprocessor, in its cycles: medians.
struct CycleReadings {
    double clock_hertz = 0;  // while all multiprocessors compute
    double instruction = 0;  // that waits for the one before
    // Loads whose address is the value of the load before.
    double shared_load = 0;
    double l1_load = 0;
    double l2_load = 0;
    double dram_load = 0;
    double next_block = 0;  // time from a block's end to the next block's first instruction
    // For one multiprocessor that alone asks L2, all the time.
    double line_request = 0;  // a sector of a line
    double sector = 0;        // time of a sector in whole lines
};

// One point failed, but the sweep can continue (not enough memory, a refused launch).
class PointError : public Error {
 public:
    using Error::Error;
};
// The GPU can no longer be used by this process (a sticky error): finished points are delivered,
// nothing more is measured.
class DeviceLostError : public Error {
 public:
    using Error::Error;
};
// Counters cannot be had; time and prediction still can. `what()` names the reason and the remedy.
class CountersError : public Error {
 public:
    using Error::Error;
};

// The user named a GPU that this machine lacks; `what()` lists those it has.
class NoSuchDeviceError : public Error {
 public:
    using Error::Error;
};

// A plan made ready: compiled, arrays allocated and filled. The destructor frees all of it.
class PreparedLaunch {
 public:
    virtual ~PreparedLaunch() = default;
    // True addresses of the program's arrays.
    virtual const Placement& placement() const = 0;
    virtual LaunchSettings settings() const = 0;
    // Enqueues the kernel once and waits for it. Nothing else uses the GPU.
    virtual void launch() = 0;
    // The same without its accesses to constant memory, which are jumped over. A kernel's
    // parameters lie there too, and only the difference counts its loads alone.
    virtual void launch_without_constants() {}
    // Median and spread of `repeats` launches in seconds, after a warm-up; cold: L2 is flushed
    // before each.
    virtual Timing time(std::uint64_t repeats, CacheState cache) = 0;
    // Compares the arrays with what the program leaves in them. Throws PointError naming the first
    // wrong element.
    virtual void verify() = 0;
};

class KernelLauncher {
 public:
    virtual ~KernelLauncher() = default;
    virtual const DeviceFacts& device() const = 0;
    // Makes this GPU's context the one that the calling thread works on. Constructing a launcher
    // does so. Throws PointError, DeviceLostError.
    virtual void activate() = 0;
    // The pitch in bytes that cudaMallocPitch gives rows of `row_bytes`.
    virtual std::uint64_t pitch_bytes(std::uint64_t row_bytes) = 0;
    // When memory is short, at most one prepared launch should be alive.
    virtual std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) = 0;
    // One warp, one instruction, its 32 addresses as kernel parameters (`coalprof warps`).
    virtual std::unique_ptr<PreparedLaunch> prepare_warp(const WarpAccess& access) = 0;
    // Evicts the content of L2.
    virtual void flush_cache() = 0;
    // Destroys its context, with memory and kernels, and continues in a new one, in which all
    // launches may start a little sooner or later. No prepared launch may be alive, and earlier
    // answers of device() are invalid. Throws Error: the launcher may only be destroyed then.
    virtual void start_anew() = 0;
    // This GPU's ceilings in bytes per second, measured once per context and kept.
    virtual double read_ceiling() = 0;
    virtual double copy_ceiling() = 0;
    // Measured at each call, in some milliseconds. Throws PointError.
    virtual CycleReadings read_cycles() = 0;
};

class CounterCollector {
 public:
    virtual ~CounterCollector() = default;
    // Hardware passes that `wanted` needs on this GPU.
    virtual std::uint64_t passes(std::span<const Counter> wanted) = 0;
    // One range per point, all in one session, repeated once per pass. For each point of each pass
    // calls before(point) outside the range, then work(point) inside it. `work` does the same each
    // time. Returns one Readings per finished point: when `work` throws PointError, that point's
    // readings say why and the rest go on; DeviceLostError ends the session and the decoded counts
    // are returned, the rest unavailable with the reason. Throws CountersError when counters cannot
    // be read at all.
    virtual std::vector<Readings> collect(std::span<const Counter> wanted, std::size_t points,
                                          const std::function<void(std::size_t)>& before,
                                          const std::function<void(std::size_t)>& work) = 0;
};

// libcuda.so.1, the library of NVIDIA's driver: loaded at run time, so that one program runs with
// and without a GPU, and once for all callers.

inline constexpr const char* driver_library_name = "libcuda.so.1";

// Its handle for dlsym(); nullptr without a driver. The driver is not started.
void* driver_library();

}  // namespace coalprof
