// What the launches of a program come to: one entry for each kernel, grid and block.
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
    Readings measured;                      // of each counter the median over the counted launches
    bool sectors_vary = false;              // counted launches asked for different numbers of them
    // Where counters may not be read, a kernel has none.
    bool has_time() const;
    // Of the whole run, as far as it can be told: the median over all launches.
    double total_seconds() const;
};

// A CUDA graph, which is launched as one: of its kernels nothing is told.
bool is_graph(const TracedKernel& kernel);

// Traces of all processes together. Those that take the most time come first, then those that
// move the most sectors.
std::vector<KernelSummary> summarize(const std::vector<Trace>& traces);

// From a second run of the program, of patched code: what lanes asked for, and its share of the
// sectors that carried it. Of kernels that both runs have.
void add_use(std::vector<KernelSummary>& kernels, const std::vector<KernelSummary>& patched);

}  // namespace coalprof
