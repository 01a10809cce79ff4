// The number of aligned blocks (lines, sectors, L2's fetches) that the accesses of a whole launch
// touch, each counted once: those that reach device memory when caches merge the accesses of
// neighbouring warps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/pattern/program.h"

namespace coalprof {

// Blocks that instructions touch together on one array. None where threads at large
// distances share blocks, so that the state of a cache decides, and where the instructions do not
// repeat and the launch is too long to be walked.
std::optional<std::uint64_t> blocks_of(std::span<const Instruction> instructions,
                                       std::uint64_t threads, std::uint64_t block_bytes);

}  // namespace coalprof
