// The time of a plan's launch and the traffic of its caches, simulated as for kernels: its accesses
// are evaluated from formulas instead of executed, its issued instructions are estimated from them.
#pragma once

#include <optional>

#include "core/machine/machine.h"
#include "core/machine/rates.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"
#include "core/result/result.h"

namespace coalprof {

// `readings` hold the exact sectors; missing ones are added, with the duration.
Estimates add_plan_time(const Plan& plan, const Machine& machine, const Rates& rates, bool is_warm,
                        Readings& readings);

}  // namespace coalprof
