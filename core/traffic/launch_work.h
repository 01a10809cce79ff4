// The amounts of work of a launch: exact counts if available, else estimates.
#pragma once

#include "core/machine/rates.h"
#include "core/result/reading.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/work.h"

namespace coalprof {

struct LaunchEstimate {
    CacheTraffic caches;
    Work work;
};

// `readings` are those of the exact model.
LaunchEstimate estimate_work(const Machine& machine, const Plan& plan, bool is_warm,
                             const Rates& rates, const Readings& readings);

}  // namespace coalprof
