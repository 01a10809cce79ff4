// Wasted memory traffic in the kernels of a program: the reason, a fix, and what that could save.
// Instructions of a kernel that waste for one cause are one finding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/lines/line_report.h"
#include "core/machine/machine.h"
#include "core/result/result.h"

namespace coalprof {

// The cause for machine code, whose addresses are not known.
inline constexpr std::string_view wasted_sectors = "wasted_sectors";

// How many bytes beyond the begin of a sector lane 0 of a warp is, or would be were it active: of
// lanes side by side.
std::uint64_t place_in_sector(const WarpAccess& warp);

// Those that save most come first, equal ones in their order.
void sort_by_saving(std::vector<LineFinding>& findings);

// `points`: the names of the reports in the result. Left out are lines that waste less than a
// tenth, and those of which no warp was kept that wastes. No warps of machine code are kept: a
// kernel has one finding, at the instruction that wastes most. Those that save most come first.
std::vector<LineFinding> findings_of(const std::vector<LineReport>& reports,
                                     const std::vector<std::string>& points,
                                     const Machine& machine);

}  // namespace coalprof
