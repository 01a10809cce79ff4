// The launches of a program, summed up: one entry for each kernel, grid and block; and its memory
// instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/program/trace.h"
#include "core/result/reading.h"

namespace coalprof {

struct KernelSummary {
    TracedKernel kernel;
    std::uint64_t counted = 0;              // launches
    std::optional<std::uint64_t> launches;  // all of them; nothing if the program was killed
    std::optional<TimedLaunches> timed;     // its other launches; nothing if CUPTI recorded none
    double counted_seconds = 0;             // all counted launches together
    // The median of each counter over the counted launches; of time over the timed ones, where none
    // was counted.
    Readings measured;
    bool sectors_vary = false;  // counted launches differ in them
    // False for example where counters may not be read.
    bool has_time() const;
    // Time of the whole run. Launches that have no time count with the mean of those that CUPTI
    // recorded; where it recorded none, with the median of those that were counted.
    double total_seconds() const;
};

// Traces of all processes together. Those that take the most time come first, then those that
// move the most sectors.
std::vector<KernelSummary> summarize(const std::vector<Trace>& traces);

// From a second run of the program, of patched code: the bytes that lanes asked for, and their
// share of the sectors that carried them. For kernels that both runs have.
void add_use(std::vector<KernelSummary>& kernels, const std::vector<KernelSummary>& patched);

// Decides if a program is run again, with code that counts its lines: only where that could find
// any, as it takes as long as the first run.
//
// Lines come from PTX. Both runs see the code that the program loads by the same calls of the
// driver, and the first one records of each load which it is:
// - PTX that this GPU compiles: the second run rewrites the kernels in it;
// - machine code alone: frameworks load so what they have compiled, and hand over its PTX where the
//   second run asks them to (cupti/attach/frameworks.h), which is then rewritten;
// - a fat binary without such PTX: compilers packed it, and it comes as it is in each run;
// - anything else, which may hold any kernel.
// A kernel that is in none of these came in a way that is not seen, and may have lines; where fat
// binaries without PTX were loaded it is taken for one of theirs, as their kernels are not named.
//
// The second run records as lacks_ptx why code does not count itself, whatever the reason.
//
// `traces`: of all processes of the first run. `wants`: selects kernels by their mangled names.
bool may_have_lines(const std::vector<Trace>& traces,
                    const std::function<bool(const std::string&)>& wants);

// The memory instructions of a program, summed up: one entry for each instruction of a function and
// source line, over all processes and launches.
struct LineSummary {
    PtxSite site;
    SiteTotals totals;
    std::vector<WarpAccess> samples;
    // For machine code: all that is known of it; nothing if its PTX counted it.
    std::optional<Readings> counted = std::nullopt;
    // Accesses whose lanes each went on from where they were: known of kernels that were executed.
    std::uint64_t walks = 0;
    std::uint64_t offset = 0;  // of machine code without lines: bytes from the function's begin

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
