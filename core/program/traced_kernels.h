// The launches of a program, summed up: one entry for each kernel, grid and block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/program/trace.h"

namespace coalprof {

struct KernelSummary {
    TracedKernel kernel;
    std::uint64_t counted = 0;              // launches
    std::optional<std::uint64_t> launches;  // all of them; none: the program was killed
    std::optional<TimedLaunches> timed;     // of the others; none: CUPTI recorded none
    double counted_seconds = 0;             // of the counted launches together
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

}  // namespace coalprof
