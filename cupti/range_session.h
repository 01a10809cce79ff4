// One session of CUPTI's range profiler on the current context: user ranges, user replay, one set
// of metrics. Closes itself on every path. The order of the calls is that of collect_ranges().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cupti/cupti_api.h"
#include "cupti/host.h"
#include "cupti/metric_table.h"

namespace coalprof {

// Switches the profiler on for a context, and off at its end. A new one for each set of metrics:
// configuring an object that is still enabled a second time crashed (H200, CUDA 13.0).
class EnabledProfiler {
 public:
    EnabledProfiler(const CuptiApi& api, CUcontext context);
    ~EnabledProfiler();
    EnabledProfiler(const EnabledProfiler&) = delete;
    EnabledProfiler& operator=(const EnabledProfiler&) = delete;

    CUpti_RangeProfiler_Object* get() const { return object_; }

 private:
    const CuptiApi& api_;
    CUpti_RangeProfiler_Object* object_ = nullptr;
};

// A range that came back; `name` is push()'s.
struct CollectedRange {
    std::size_t index = 0;
    std::string name;
};

// Every call throws CountersError when CUPTI refuses it.
class RangeSession {
 public:
    // Reserves exactly `ranges` ranges per pass. `config` must outlive the session.
    RangeSession(const CuptiApi& api, CUcontext context, const MetricConfig& config,
                 std::size_t ranges);
    ~RangeSession();
    RangeSession(const RangeSession&) = delete;
    RangeSession& operator=(const RangeSession&) = delete;

    void start();
    void push(const std::string& name);
    void pop();
    // Returns true if the hardware has seen all passes.
    bool stop();
    // After a failure: ends an open range and an open pass, whatever CUPTI answers. Returns true if
    // the passes are complete even so.
    bool abandon() noexcept;

    // Fetches the counts. Returns how many ranges were lost for lack of room.
    std::size_t decode();
    // The ranges that came back after decode(). A range without a name is left out.
    std::vector<CollectedRange> ranges() const;
    std::span<const std::uint8_t> counter_data() const { return counter_data_; }
    // Forgets the ranges, so that the session can be started again.
    void clear();

 private:
    void size_counter_data(std::size_t ranges);
    void set_config(std::size_t ranges);

    const CuptiApi& api_;
    const MetricConfig& config_;
    EnabledProfiler profiler_;
    std::vector<std::uint8_t> counter_data_;  // must not move: CUPTI keeps its address
    bool is_started_ = false;
    bool is_range_open_ = false;
};

// Drives a whole sweep through range sessions: one user range per point, all of a chunk in one
// Start..Stop, repeated once per pass, decoded once. Finished points are kept after any failure.

struct RangeCollection {
    const CuptiApi& api;
    CUcontext context;
    const MetricConfig& config;
    // A session holds this many points at most; a longer sweep takes several. 4000 in one worked on
    // an H200 (CUDA 13.0); others report that SetConfig fails somewhere above 2000.
    std::size_t ranges_per_session = 1000;
};

// Points that already have a failure in `values` are skipped: their ranges stay empty. Failures of
// CUPTI and DeviceLostError end the sweep and are in the answer; other exceptions of the sweep's
// calls (but PointError) are passed on after the session has been closed.
void collect_ranges(const RangeCollection& collection, const CountedSweep& sweep,
                    SweepValues& values);

}  // namespace coalprof
