// Constant memory: one pass per distinct address among the lanes that are served together. A
// uniform address costs one pass, k addresses k, and an element too wide for one instruction that
// much again. Documented by NVIDIA, not measured here.
#pragma once

#include <cstdint>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"

namespace coalprof {

// Counts of one instruction of one warp, or a sum.
struct ConstantCounts {
    std::uint64_t requests = 0;  // passes through the constant cache
    void add(const ConstantCounts& other, std::uint64_t times = 1);
};

class ConstantMemory {
 public:
    explicit ConstantMemory(const Rules& rules) : rules_(rules.constant) {}
    ConstantCounts count(const WarpAccess& access) const;

 private:
    ConstantRules rules_;
};

}  // namespace coalprof
