// The limits of a machine that a predicted launch exceeds: the rules of its memory apply to any
// launch, but its limits would refuse some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/result.h"

namespace coalprof {

// The limits that the launch exceeds, whatever its instructions are.
std::vector<std::string> launch_obstacles(const Rules& rules, std::uint32_t block_threads,
                                          std::uint64_t shared_bytes,
                                          const std::optional<Dimensions>& grid);

// Clauses such as "a block has 1024 threads, the most is 512"; empty: none is known. They concern
// the plan's program, shape and allocation. Not considered: sizes of memory, because boards came
// with several, and default grids, because two dimensions hold what one does not (65,535 blocks
// before 3.0).
std::vector<std::string> obstacles(const Rules& rules, const Plan& plan);

// The same as warnings W-IMPOSSIBLE of the whole run, which name the machine.
std::vector<Warning> obstacle_warnings(const Machine& machine, const Plan& plan);

}  // namespace coalprof
