// An executed kernel as a result: a point for the kernel, one for each instruction or line, and
// findings, as `coalprof run --lines` gives them for a program.
#pragma once

#include <string_view>
#include <vector>

#include "core/kernel/site_counts.h"
#include "core/machine/machine.h"
#include "core/program/execute.h"
#include "core/result/result.h"

namespace coalprof {

// Arrays of unknown size were accessed. It is said once, however many launches there are.
inline constexpr std::string_view bounds_code = "W-BOUNDS";

struct KernelResult {
    std::vector<Point> points;                      // the kernel's first, then lines; see below
    std::vector<std::vector<WarpAccess>> warps;     // some accesses of each point's line
    std::vector<std::vector<std::uint32_t>> sites;  // each point's places in Code::sites
    std::vector<LineFinding> findings;              // where there are faults, of these alone
    std::vector<KernelFault> faults;                // faults that the findings show
    double idle_share = 0;                          // share of the blocks that access no memory
    std::vector<Warning> warnings;
};

// The counters of some sites together; `counts`: site by site, as below.
Readings readings_of(const Code& code, const Machine& machine,
                     const std::vector<SiteCounts>& counts,
                     const std::vector<std::uint32_t>& sites);
KernelResult points_of_kernel(const Code& code, const KernelLaunch& launch,
                              const LaunchMemory& memory, const Machine& machine,
                              const std::vector<SiteCounts>& counts, const ExecutionNotes& notes);

struct PredictionOptions {
    ExecutionLimits limits = {};
    std::size_t threads = 1;
    // Simulates the launch once more for each finding, and puts the costliest line first rather
    // than the one that wastes most.
    bool prices_findings = false;
};

// Executes the kernel and counts its accesses; if it takes too many steps, only those of a sample
// of blocks, with intervals. Throws UsageError, Stopped.
KernelResult predict_kernel(const Code& code, const KernelLaunch& launch, LaunchMemory& memory,
                            const Machine& machine, const PredictionOptions& options);

}  // namespace coalprof
