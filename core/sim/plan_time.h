// How long the launch of a plan takes and what its caches do, simulated as kernels are: its
// accesses are evaluated from formulas instead of executed, what it issues is estimated from them.
#pragma once

#include <optional>

#include "core/machine/machine.h"
#include "core/machine/rates.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"
#include "core/result/result.h"

namespace coalprof {

// Of a plan all of whose arrays are in global memory. `readings` hold the exact sectors; what they
// lack is added, with the duration.
Estimates add_plan_time(const Plan& plan, const Machine& machine, const Rates& rates, bool is_warm,
                        Readings& readings);

}  // namespace coalprof
