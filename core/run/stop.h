// Ctrl-C and SIGTERM: the run ends after the point in flight, and what is finished is delivered. A
// second signal ends the process at once.
#pragma once

#include <csignal>

#include "core/result/result.h"
#include "core/text/error.h"

namespace coalprof {

void stop_on_signals();
// The signal that asked for the end (SIGINT, SIGTERM), or 0.
int stop_signal();
// What the process answers for a result that ended so: 0, 4, or 130 and 143 by the signal.
ExitCode exit_code_of(Status status);

}  // namespace coalprof
