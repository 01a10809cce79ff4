// Missing or uncertain parts of a result of `coalprof run`, with reasons.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/lines/run_lines.h"

namespace coalprof {

// A warning about the whole run.
Warning of_run(std::string_view code, std::string text);

// The problems of all processes, each once.
std::vector<Warning> problems_of(const std::vector<Trace>& traces, std::string_view code);

// Errors while the runs counted. `later`: in runs after the first, of which only an early end
// matters. `ranges`: those of NVTX that were asked for.
std::vector<Warning> problems_of_run(const std::vector<Trace>& traces,
                                     const std::vector<Trace>& later,
                                     const std::vector<std::string>& ranges);

// Warnings about kernels without lines, and about those with uncertain ones.
std::vector<Warning> warnings_of_lines(const std::vector<KernelSummary>& kernels,
                                       const std::vector<LineSummary>& lines,
                                       const LineTraces& traces);

// A later run that ended in another way. `during`: its purpose.
std::vector<Warning> other_end_of(int code, int code_before, const std::string& during);

void append(std::vector<Warning>& all, const std::vector<Warning>& more);

}  // namespace coalprof
