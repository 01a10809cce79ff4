// The accesses of one line of a kernel drawn: each instruction's commonest warp, and the one that
// costs most.
#pragma once

#include <string>

#include "core/explain/explanation.h"
#include "core/kernel/kernel_points.h"
#include "core/machine/machine.h"

namespace coalprof {

// Empty members choose everything.
struct LineChoice {
    std::string line;   // "42", "kernels.cu:42"; without it the instruction that wastes most
    std::string op;     // "load", "shared_store"
    std::string array;  // "A"
};

// Throws UsageError where no access fits, naming those of the line.
DrawnWarps explain_line(const KernelResult& result, const Code& code, const LineChoice& choice,
                        const Machine& machine);

}  // namespace coalprof
