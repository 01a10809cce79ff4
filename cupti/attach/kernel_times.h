// The times of launches that are not counted, from CUPTI's records of kernels. Records of
// concurrent kernels insert code into each: one more store, and up to 7 % more time with many
// blocks (H100, 2026-11-26), so they pause while a launch is counted. The other kind of records
// inserts nothing, but serializes kernels: one that waits for another hangs.
#pragma once

#include <cupti_activity.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/program/trace.h"

namespace coalprof {

// A plain struct, so that a scripted fake can stand in. nullptr: CUPTI does not have it.
struct ActivityApi {
    decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
    decltype(&::cuptiActivityEnable) enable = nullptr;
    decltype(&::cuptiActivityDisable) disable = nullptr;
    decltype(&::cuptiActivityGetNextRecord) next_record = nullptr;
    decltype(&::cuptiActivityFlushAll) flush_all = nullptr;
    decltype(&::cuptiActivityFlushPeriod) flush_period = nullptr;
};

// Durations of one kernel's launches; enough of them are kept for their median.
class LaunchTimes {
 public:
    void add(double seconds);
    TimedLaunches sum() const;

 private:
    static constexpr std::size_t most_kept = 4096;
    std::uint64_t launches_ = 0;
    double total_seconds_ = 0;
    std::uint64_t every_ = 1;  // one launch out of this many is kept
    std::vector<double> kept_;
};

class KernelTimes {
 public:
    explicit KernelTimes(const ActivityApi& api) : api_(api) {}

    // From now on kernels are recorded. Buffers come to `completed`, which must pass them to
    // read(). Throws CountersError where CUPTI refuses.
    void start(CUpti_BuffersCallbackRequestFunc requested,
               CUpti_BuffersCallbackCompleteFunc completed);
    // Kernels launched between pause() and resume() have no times.
    void pause();
    void resume();
    // Called before each launch that is not counted. Records cost 3 us a launch (H100), so later
    // only some stretches of launches have them.
    void launch_begins();
    void read(std::uint8_t* buffer, std::size_t bytes);
    // Makes CUPTI deliver its records, those of kernels that still run left out.
    void flush();
    // Times of all launches so far; for a graph, the kernels of a launch together.
    std::map<TracedKernel, TimedLaunches> sums();

 private:
    ActivityApi api_;
    struct GraphLaunch {
        std::uint32_t correlation;
        TracedKernel launch;
        double seconds;
    };
    void record(bool wanted);
    void add_to_graph(const CUpti_ActivityKernel10& kernel, double seconds);
    void end_graph();
    bool has_started_ = false;
    bool is_recording_ = false;
    std::uint64_t launches_ = 0;
    std::mutex mutex_;  // CUPTI delivers buffers on its threads
    std::map<TracedKernel, LaunchTimes> kernels_;
    std::optional<GraphLaunch> graph_;  // launch of the latest kernels
};

}  // namespace coalprof
