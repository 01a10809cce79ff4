// The memory that the instructions of one kind touch on one array over a whole launch, in units of
// a sector, of the 64 bytes that L2 fetches at a time and of a line, and how often they come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/pattern/program.h"
#include "core/traffic/touched_lines.h"

namespace coalprof {

struct Reach {
    Units units{};           // of the launch
    Units of_period{};       // of one period (of a sampled window without repetition)
    double periods = 1;      // in the launch
    double accesses = 0;     // lanes that take part
    bool at_random = false;  // nothing repeats: places are as good as random
    // The sectors that neighbouring threads, a share of the launch, touch.
    double sectors_of_share(double share) const { return of_share(0, share); }
    double lines_of_share(double share) const { return of_share(2, share); }

 private:
    double of_share(std::size_t unit, double share) const;
};

// `instructions` touch one array. Exact where they repeat soon, or within each period, or are
// short; else estimated from the overlaps of samples.
Reach reach_of(const Program& program, std::span<const Instruction* const> instructions);

// Instructions that touch the places where another one was some threads before, as the three loads
// of a stencil do: they fetch nothing unless L2 has lost it since. For each of the instructions,
// which touch one array: its distance in threads from the closest one before it whose places it
// takes. None where it takes those of no other one.
std::vector<std::optional<std::uint64_t>> lags_of(const Program& program,
                                                  std::span<const Instruction* const> instructions);

}  // namespace coalprof
