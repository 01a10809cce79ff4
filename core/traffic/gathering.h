// Stores, and loads of what is stored to, that all gather on a few lines which are drawn by lot:
// all of these lines wait at all times, and what comes meanwhile joins.
#pragma once

#include "core/traffic/block_replay.h"

namespace coalprof {

// How many lines that may be; of updates more.
inline constexpr std::uint32_t gathering_lines = 16;
inline constexpr std::uint32_t gathering_updates = 32;

// Sets what of the launch's requests leaves: Replayed::leaving, gathered_reads.
void set_gathered(const LaunchOrder& order, const Multiprocessor& multiprocessor,
                  Replayed& replayed);

}  // namespace coalprof
