// What the model can say of loads that take another way than ld.global, and of arrays that do not
// lie in device memory: which predictions hold as they are, and why the others are unavailable.
#pragma once

#include <optional>
#include <string_view>

#include "core/machine/rules.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"

namespace coalprof {

// Why nothing is known of loads on this path; none: they count as ld.global does. Loads through
// textures have counters of their own and are no case of this.
std::optional<std::string_view> why_loads_unknown(const Rules& rules, LoadPath path);
// Why the bandwidth of this plan cannot be predicted; none: as for any other.
std::optional<std::string_view> why_bandwidth_unknown(const Rules& rules, const Plan& plan);

// Whether loads of this plan leave L1 aside. -dlcm reaches only ld.global: on 9.0, ptxas 13.0 makes
// the same instruction of ld.global.nc and of a texture fetch under ca, cg and cv.
bool bypasses_l1(const Plan& plan);

// Takes back what is only known of arrays in device memory.
void set_beyond_device_memory(Allocation allocation, Readings& readings);

}  // namespace coalprof
