// The kernels of a program that ran, with the sectors that they could save according to their
// lines, or their bytes.
#pragma once

#include <vector>

#include "core/lines/run_lines.h"

namespace coalprof {

// A point for each kernel, grid and block: counters of one launch, and beside them `excess` (ratio:
// sectors beyond the fewest that widths and lanes need), `cost_seconds` (about, of all launches)
// and a `verdict` in a word. The ideal sectors of a kernel in several shapes are shared out by the
// sectors of each. Kernels without lines are judged by their bytes where those were counted: then
// the excess is at most this, as no launch needs fewer sectors.
std::vector<Point> points_of_kernels(const std::vector<KernelSummary>& kernels,
                                     const RunLines& lines);

// The same after one run, which does not measure the needed bytes.
std::vector<Point> points_of_kernels(const std::vector<KernelSummary>& kernels);

// The share of all kernels' time, from 0 to 1, in kernels without any line.
double share_without_lines(const std::vector<KernelSummary>& kernels, const RunLines& lines);

// True if its bytes show that almost nothing can be saved; false where they were not counted.
bool is_fine_by_bytes(const KernelSummary& kernel);

// The mangled name of the kernel without lines whose waste, by its bytes, costs most; empty where
// that is less than `least_share` of the time of all kernels.
std::string most_wasteful_by_bytes(const std::vector<KernelSummary>& kernels, const RunLines& lines,
                                   double least_share);

}  // namespace coalprof
