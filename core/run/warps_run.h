// Runs a warps file through the model, line by line: memory does not grow with the file.
#pragma once

#include <string>

#include "core/machine/machine.h"
#include "core/result/result.h"
#include "core/text/error.h"

namespace coalprof {

// `file` "-" is standard input. The first line that does not fit ends the run: the points before it
// are delivered, then its UsageError is thrown.
ExitCode run_warps(const std::string& file, const Machine& machine, const ResultHead& head,
                   ResultSink& sink);

}  // namespace coalprof
