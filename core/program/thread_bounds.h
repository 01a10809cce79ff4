// Sizes for the numbers of a launch that nobody gives.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/program/code.h"

namespace coalprof {

// By parameter: as large as the places of threads that it is compared with become (i < n; of
// i < n * m both together), 128 if it is compared with others, 0 with none. `threads`: of the grid
// along x, y and z.
std::vector<std::uint64_t> sizes_by_threads(const Code& code,
                                            const std::array<std::uint64_t, 3>& threads);

}  // namespace coalprof
