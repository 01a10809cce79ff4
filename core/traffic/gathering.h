// Stores, and loads of what is stored to, that all go to a few random lines: all of these lines
// wait at all times, and further requests merge.
#pragma once

#include "core/traffic/block_replay.h"

namespace coalprof {

// The most such lines; more for updates.
inline constexpr std::uint32_t gathering_lines = 16;
inline constexpr std::uint32_t gathering_updates = 32;

// Sets the leaving share of the launch's requests: Replayed::leaving, gathered_reads.
void set_gathered(const LaunchOrder& order, const Multiprocessor& multiprocessor,
                  Replayed& replayed);

}  // namespace coalprof
