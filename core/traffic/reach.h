// How much memory the instructions of one kind touch on one array over a whole launch, in units of
// a sector, of the 64 bytes that L2 fetches at a time and of a line, and how often they come back.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/pattern/program.h"

namespace coalprof {

inline constexpr std::array<std::uint64_t, 3> reach_unit_bytes{32, 64, 128};

// Distinct units of each size.
using Units = std::array<double, reach_unit_bytes.size()>;

struct Reach {
    Units units{};           // of the launch
    Units of_period{};       // of one period (of a sampled window where nothing repeats)
    double periods = 1;      // in the launch
    double accesses = 0;     // lanes that take part
    bool at_random = false;  // nothing repeats: places are as good as drawn by lot
};

// `instructions` touch one array. Exact where they repeat after a million threads or earlier, or
// are that short; else estimated from samples, how often of which meet one another.
Reach reach_of(const Program& program, std::span<const Instruction* const> instructions);

}  // namespace coalprof
