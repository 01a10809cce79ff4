// The memory instructions of a program, summed up: one entry for each instruction of a function and
// source line, over all processes and launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/program/trace.h"
#include "core/program/traced_kernels.h"
#include "core/result/reading.h"

namespace coalprof {

struct LineSummary {
    PtxSite site;
    SiteTotals totals;
    std::vector<WarpAccess> samples;
    // For machine code: all that is known of it; none: its PTX counted it.
    std::optional<Readings> counted = std::nullopt;
    // Accesses whose lanes each went on from where they were: known of kernels that were executed.
    std::uint64_t walks = 0;
    std::uint64_t offset = 0;  // of machine code without lines: bytes, from the function's begin

    bool is_machine_code() const { return counted.has_value(); }
    // Sectors beyond the fewest that the width and the lanes allow; of global memory.
    std::uint64_t wasted_sectors() const;
    // The place shown for it: where code of the toolkit's header was inlined, that line replaces
    // the header's. Empty without line information.
    const SourceLine& place() const;
};

// For code that counted itself, in the order of functions and lines.
std::vector<LineSummary> summarize_lines(const std::vector<Trace>& traces);

// The counters of a line of global memory.
Readings readings_of(const LineSummary& line);

// A kernel whose loads and stores of global memory do not add up to the hardware's count of the
// unchanged kernel, in sectors of all launches: where lanes diverge, compilers order and repeat
// instructions, and do so differently in code that counts itself.
struct LinesDiffer {
    std::string function;
    double sectors_of_lines;
    double sectors_of_hardware;  // median of counted launches x launches, over shapes
};
// `kernels`: of the run that the hardware counted; `traces`: of the one that counted lines, which
// may launch more or fewer. Left out are kernels that the hardware saw ask for different sectors
// from launch to launch, or did not count; and all, where a function has lines itself, or a graph
// was launched: lines also hold what kernels executed in it.
std::vector<LinesDiffer> kernels_whose_lines_differ(const std::vector<KernelSummary>& kernels,
                                                    const std::vector<Trace>& traces);

}  // namespace coalprof
