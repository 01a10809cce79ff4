// The accesses of wmma.load and wmma.store: ptxas turns them into ordinary loads and stores, and
// into ldmatrix where they read shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/program/opcodes.h"

namespace coalprof {

// (lane >> shift & mask) * factor
struct LanePart {
    std::uint32_t shift = 0;
    std::uint32_t mask = 0;
    std::uint32_t factor = 1;
};

// A line is a row of a matrix that lies by rows, a column of one that lies by columns. A lane's
// address is line * (bytes from line to line) + byte, both by the lane's number, added to the
// pointer; each access adds its lines and bytes.
struct FragmentAccess {
    std::uint32_t lines = 0;
    std::uint32_t bytes = 0;
};
struct Fragment {
    LanePart line = {}, byte = {};
    std::vector<FragmentAccess> accesses = {};
    std::uint32_t width_bytes = 4;  // of a lane
    char variant = 0;               // n, m, M: an ldmatrix of 1, 2 or 4 matrices
    std::uint32_t element_bits = 16;
    std::uint32_t line_elements = 0;  // default distance of lines
};

// None: an unknown form.
std::optional<Fragment> fragment_of(const OpcodeWords& words);

}  // namespace coalprof
