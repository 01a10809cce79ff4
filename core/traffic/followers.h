// Instructions that come to where another one was some threads before, as the three loads of a
// stencil do: they fetch nothing unless L2 has lost it meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/pattern/program.h"

namespace coalprof {

// For each of the instructions, which touch one array: how many threads it comes behind the nearest
// other one whose places it takes. None where it takes those of no other one.
std::vector<std::optional<std::uint64_t>> lags_of(const Program& program,
                                                  std::span<const Instruction* const> instructions);

}  // namespace coalprof
