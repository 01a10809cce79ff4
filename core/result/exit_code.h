// What an end by a signal makes of a run: it ends after the point in flight, or in the middle of a
// long prediction, and what is finished is delivered.
#pragma once

#include "core/result/result.h"
#include "core/runtime/signal.h"
#include "core/text/error.h"

namespace coalprof {

// What the process answers for a result that ended so: 0, 4, or 128 and the number of the signal,
// as shells say it.
ExitCode exit_code_of(Status status);

}  // namespace coalprof
