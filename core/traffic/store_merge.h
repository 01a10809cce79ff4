// Where a launch does nothing but store: how many of its requests leave a multiprocessor. A request
// joins the one before it if both are for one line, so all depends on the order in which warps
// store; a few of a multiprocessor's blocks are replayed as its four schedulers issue them.
#pragma once

#include "core/traffic/block_replay.h"

namespace coalprof {

LeavingShare leaving_of_stores(const Program& program, const LaunchOrder& order,
                               const Multiprocessor& multiprocessor, const Replayed& replayed);

}  // namespace coalprof
