// The model's estimates: counters that follow from a launch's exact counts only by way of caches
// and time. Hits of L1, traffic to L2 and to device memory where warps share lines, and the
// duration.
#pragma once

#include <optional>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"
#include "core/result/result.h"

namespace coalprof {

// `readings` are Predictor::predict_launch()'s; those that are unavailable there, and the duration
// with the bandwidth, get their values here. Where rates are not known, before 7.0 and of loads
// through textures, device memory alone decides the time. None where not even that is known.
std::optional<Estimates> add_estimates(const Machine& machine, const Plan& plan, CacheState cache,
                                       Readings& readings);

}  // namespace coalprof
