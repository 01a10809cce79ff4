// Drives a whole sweep through range sessions: one user range per point, all of a chunk in one
// Start..Stop, repeated once per pass, decoded once. Whatever fails, what was finished is kept.
#pragma once

#include <cstddef>

#include "cupti/counted_sweep.h"
#include "cupti/cupti_api.h"
#include "cupti/host.h"

namespace coalprof {

struct RangeCollection {
    const CuptiApi& api;
    CUcontext context;
    const MetricConfig& config;
    // A session holds this many points at most; a longer sweep takes several. 4000 in one worked on
    // an H200 (CUDA 13.0); elsewhere SetConfig is said to fail somewhere above 2000.
    std::size_t ranges_per_session = 1000;
};

// Points that already have a failure in `values` are passed over: their ranges stay empty. Adds to
// `times`. Failures of CUPTI and DeviceLostError end the sweep and are in the answer; what else
// the sweep's calls throw (but PointError) is passed on after the session has been closed.
void collect_ranges(const RangeCollection& collection, const CountedSweep& sweep,
                    SweepValues& values, CollectTimes& times);

}  // namespace coalprof
