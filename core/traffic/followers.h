// Instructions that touch the places where another one was some threads before, as the three loads
// of a stencil do: they fetch nothing unless L2 has lost it since.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/pattern/program.h"

namespace coalprof {

// For each of the instructions, which touch one array: its distance in threads from the closest one
// before it whose places it takes. None where it takes those of no other one.
std::vector<std::optional<std::uint64_t>> lags_of(const Program& program,
                                                  std::span<const Instruction* const> instructions);

}  // namespace coalprof
