// What the memory instructions of a program come to: one entry for each instruction of a function
// and source line, over all processes and launches.
#pragma once

#include <string>
#include <vector>

#include "core/result/reading.h"
#include "core/trace/trace.h"

namespace coalprof {

struct LineSummary {
    PtxSite site;
    SiteTotals totals;
    std::vector<WarpAccess> samples;

    // Sectors beyond those that could hold what the lanes asked for; of global memory.
    std::uint64_t wasted_sectors() const;
    // Where a reader looks for it: the line where code of a header of the toolkit was inlined
    // stands for that header. Empty without line information.
    const SourceLine& place() const;
};

// In the order of functions and lines.
std::vector<LineSummary> summarize_lines(const std::vector<Trace>& traces);

// The counters of a line of global memory.
Readings readings_of(const LineSummary& line);

}  // namespace coalprof
