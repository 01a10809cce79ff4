// Stores where each warp goes to almost the same several lines as the one before it: a block's
// requests for a line merge while the lines of one warp all find room to wait.
#pragma once

#include <optional>

#include "core/traffic/block_replay.h"

namespace coalprof {

// The requests that leave for L2, whatever the launch loads; nothing where neighbouring warps store
// to other lines, or to one each.
std::optional<LeavingShare> leaving_of_alike(const Program& program, const LaunchOrder& order,
                                             const Replayed& replayed);

}  // namespace coalprof
