// What went wrong while the runs of `coalprof run` counted.
#pragma once

#include <string>
#include <vector>

#include "core/program/trace.h"
#include "core/result/result.h"

namespace coalprof {

// `later`: of further runs, of which only an early end is told. `ranges`: of NVTX, that were asked
// for.
std::vector<Warning> problems_of_run(const std::vector<Trace>& traces,
                                     const std::vector<Trace>& later,
                                     const std::vector<std::string>& ranges);

// A later run that ended in another way. `during`: what it was for.
std::vector<Warning> other_end_of(int code, int code_before, const std::string& during);

void append(std::vector<Warning>& all, const std::vector<Warning>& more);

}  // namespace coalprof
