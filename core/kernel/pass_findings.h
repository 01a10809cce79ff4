// Findings of loads that take more passes through L1 than their bytes need, though they ask for no
// sector too many: rows whose words lie in the same banks.
#pragma once

#include "core/kernel/kernel_points.h"

namespace coalprof {

// For a kernel that L1 limits, whose lines have their passes and costs. A line that has a finding
// gets no other.
void add_pass_findings(KernelResult& result);

}  // namespace coalprof
