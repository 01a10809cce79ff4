// The lines of a program with their waste, and the cost of that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/program/traced_kernels.h"
#include "core/result/reading.h"

namespace coalprof {

// All launches of a kernel.
struct KernelTime {
    std::optional<double> seconds;
    std::optional<std::uint64_t> launches;
};

// The line's cost on the GPU, as far as it is known.
struct LineCosts {
    std::map<std::string, KernelTime> kernels;  // mangled name -> time
    double passes_per_second = 0;  // shared memory of all multiprocessors; 0: not known
};

struct LineReport {
    LineSummary line;
    Readings measured;        // global memory only if the code itself counted
    Readings predicted;       // passes of shared memory, by the model's rule
    double wasted_share = 0;  // share of the line's sectors or passes, from 0 to 1
    std::optional<double> saves_seconds;
    KernelTime kernel;
};

// Those that could save most time first, then, or where no time is known, those that waste most
// sectors.
std::vector<LineReport> report_lines(std::vector<LineSummary> lines, const LineCosts& costs);

}  // namespace coalprof
