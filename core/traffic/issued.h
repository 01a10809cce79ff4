// The number of instructions that the warps of a kernel issue: the limit of a launch that asks
// little of memory.
#pragma once

#include <cstdint>

#include "core/pattern/program.h"

namespace coalprof {

// Instructions of one warp, each lane of which has `per_thread` elements; without random words,
// which are mostly waiting time (hashes_of). About: compilers differ. From the code that NVRTC 13.0
// makes for compute capability 9.0 (docs/measurements/instructions.txt).
double issued_of_warp(const Program& program, std::uint32_t per_thread);

// Those of them that compute the elements' indices.
double index_instructions(const Program& program);

// Random words of one element: instructions with one formula have them drawn once.
double hashes_of_element(const Program& program);

}  // namespace coalprof
