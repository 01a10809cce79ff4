// Findings of accesses that ask for no sector too many, but more often than they need to: loads of
// rows whose words lie in the same banks of L1, and stores that a register could collect.
#pragma once

#include <optional>
#include <string_view>

#include "core/kernel/kernel_points.h"
#include "core/sim/block_trace.h"

namespace coalprof {

inline constexpr std::string_view repeated_store = "repeated_store";

// For a kernel that L1 limits, whose lines have their passes and costs. A line that has a finding
// gets no other.
void add_pass_findings(KernelResult& result);
// The padding that puts rows which the warps read together in different banks. None: no warp reads
// rows of the same bank.
std::optional<SiteMend> padding_of(const std::vector<WarpAccess>& warps);

// Stores of a warp to the same places in round after round of a loop.
void add_repeat_findings(KernelResult& result, const Code& code,
                         const std::vector<SiteCounts>& counts);

}  // namespace coalprof
