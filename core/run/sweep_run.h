// Runs a sweep: one point after the other to the sink, whatever happens to one of them.
#pragma once

#include <vector>

#include "core/result/result.h"
#include "core/run/sweep.h"
#include "core/text/error.h"

namespace coalprof {

// The model alone. Ends early, with what is finished delivered, when stop_signal() says so.
// head.compares_settings is filled in here.
ExitCode run_sweep(const std::vector<PlannedPoint>& points, ResultHead head, ResultSink& sink);

}  // namespace coalprof
