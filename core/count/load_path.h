// The model of loads that take another way than ld.global, and of arrays outside device memory:
// which predictions hold as they are, and why the others are unavailable.
#pragma once

#include <optional>
#include <string_view>

#include "core/machine/rules.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"

namespace coalprof {

// The reason why loads on this path are not known; none: they count as ld.global does. Loads
// through textures have separate counters and are not included.
std::optional<std::string_view> why_loads_unknown(const Rules& rules, LoadPath path);
// The reason why the bandwidth of this plan cannot be predicted; none: as for any other.
std::optional<std::string_view> why_bandwidth_unknown(const Rules& rules, const Plan& plan);

// True if loads of this plan bypass L1. -dlcm reaches only ld.global: on 9.0, ptxas 13.0 makes the
// same instruction of ld.global.nc and of a texture fetch under ca, cg and cv.
bool bypasses_l1(const Plan& plan);

// Removes counts that are only known for arrays in device memory.
void set_beyond_device_memory(Allocation allocation, Readings& readings);

}  // namespace coalprof
