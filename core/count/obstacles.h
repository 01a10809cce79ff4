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
// the plan's program, shape and allocation. Not considered: default grids, because two dimensions
// hold what one does not (65,535 blocks before 3.0).
std::vector<std::string> obstacles(const Rules& rules, const Plan& plan);

// Says how many lanes are idle in blocks of this many threads; empty where none are.
std::string idle_lanes(std::uint64_t block_threads);

// A warning where arrays of so many bytes do not fit the memory of the machine's board.
std::optional<Warning> memory_warning(const Machine& machine, std::uint64_t bytes);

// The obstacles as warnings of the whole run, which name the machine, and W-LAUNCH for idle lanes
// and for settings that the machine does not have.
std::vector<Warning> launch_warnings(const Machine& machine, const Plan& plan);

}  // namespace coalprof
