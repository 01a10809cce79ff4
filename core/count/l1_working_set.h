// The bytes that L1 must hold at a time so that warps which share lines find them there. An
// estimate from documented sizes: it takes the first threads of a launch, as many as a
// multiprocessor runs at once, for typical, and registers for no limit.
#pragma once

#include <cstdint>
#include <optional>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"

namespace coalprof {

struct L1WorkingSet {
    std::uint64_t bytes = 0;  // of the distinct lines that loads touch
    bool is_shared = false;   // several warps or instructions touch some of them
    bool is_kept = false;     // L1 keeps these loads' lines, as far as it is large enough
};

// None where nothing is loaded from global memory, or through textures only.
std::optional<L1WorkingSet> l1_working_set(const Rules& rules, const Plan& plan);

// Bytes of L1 that the plan's carveout leaves.
std::uint64_t l1_bytes(const Rules& rules, const CachePolicy& cache);

}  // namespace coalprof
