// Where a launch does nothing but store: how many of its requests leave a multiprocessor. A request
// merges with the one before it if both are for one line, so all depends on the order in which
// warps store; a few of a multiprocessor's blocks are replayed as its four schedulers issue them.
#pragma once

#include <optional>

#include "core/traffic/block_replay.h"

namespace coalprof {

// Lines of one multiprocessor that can wait to leave for L2, and those with parts of words. Fitted
// to stores to random places in 2 KiB to 64 KiB on both GPUs (tests/data).
inline constexpr std::uint32_t leaving_lines = 24;
inline constexpr std::uint32_t leaving_parts = 8;

LeavingShare leaving_of_stores(const Program& program, const LaunchOrder& order,
                               const Multiprocessor& multiprocessor, const Replayed& replayed);

// The same where stores pile up, whatever the launch loads: requests for one of the last few lines
// merge.
LeavingShare leaving_when_piled_up(const Replayed& replayed);

// Stores where each warp goes to almost the same several lines as the one before it: a block's
// requests for a line merge while the lines of one warp all find room to wait. The requests that
// leave for L2, whatever the launch loads; nothing where neighbouring warps store to other lines,
// or to one each.
std::optional<LeavingShare> leaving_of_same_lines(const Program& program, const LaunchOrder& order,
                                                  const Replayed& replayed);

// Stores, and loads of what is stored to, that all go to a few random lines: all of these lines
// wait at all times, and further requests merge.
//
// The most such lines; more for updates.
inline constexpr std::uint32_t gathering_lines = 16;
inline constexpr std::uint32_t gathering_updates = 32;

// Sets the leaving share of the launch's requests: Replayed::leaving, gathered_reads.
void set_gathered(const LaunchOrder& order, const Multiprocessor& multiprocessor,
                  Replayed& replayed);

}  // namespace coalprof
