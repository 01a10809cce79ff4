// The number of aligned blocks (lines, sectors, L2's fetches) that the accesses of a whole launch
// touch, each counted once: those that reach device memory when caches merge the accesses of
// neighbouring warps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/pattern/program.h"

namespace coalprof {

// `copies` runs of `bytes` consecutive bytes, each `advance_bytes` after the one before it.
struct ByteRuns {
    std::uint64_t first_byte = 0;
    std::uint64_t bytes = 0;
    std::uint64_t advance_bytes = 0;
    std::uint64_t copies = 1;
};

// Aligned blocks of `block_bytes` (a power of two) that the copies touch; exact when the advance is
// no less than the run, or zero.
std::uint64_t blocks_of(const ByteRuns& run, std::uint64_t block_bytes);

// The bytes that an instruction touches over `threads` indices as one run, from element 0 at byte
// 0. None where there are no such runs, or where their order differs from memory's by more than a
// warp.
std::optional<ByteRuns> runs_of(const Instruction& instruction, std::uint64_t threads);

// Blocks that several instructions touch together on one array. None where threads at large
// distances share blocks, so that the state of a cache decides, and where the instructions do not
// repeat and the launch is too long to be walked.
std::optional<std::uint64_t> blocks_of(std::span<const Instruction> instructions,
                                       std::uint64_t threads, std::uint64_t block_bytes);

}  // namespace coalprof
