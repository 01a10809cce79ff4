// --alloc and --path: the memory of a plan's arrays and the path of its loads, checked against the
// accesses of its program.
#pragma once

#include "core/pattern/plan.h"

namespace coalprof {

// On any path.
bool is_global_load(const Instruction& instruction);
// An atomic or a reduction.
bool is_atomic(const Instruction& instruction);
// True if some instruction does, so that caches and device memory matter for the launch.
bool touches_global_memory(const Program& program);

// Call it once the program is made. Writes plan.path into the loads of global memory of
// plan.program. Throws UsageError where allocation or path do not fit the program: no global
// memory, no load, a read-only path to an array that the launch writes, a width that textures do
// not have.
void apply_memory_settings(Plan& plan);

}  // namespace coalprof
