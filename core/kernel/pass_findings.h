// Findings of loads that take more passes through L1 than their bytes need, though they ask for no
// sector too many: rows whose words lie in the same banks.
#pragma once

#include "core/kernel/kernel_points.h"

namespace coalprof {

// Of a kernel that L1 limits; needs the passes and the costs of its lines. Those that have a
// finding get no other.
void add_pass_findings(KernelResult& result);

}  // namespace coalprof
