// From a plan to CUDA source. One text serves every value of the swept parameter: formulas arrive
// as kernel parameters, and only the properties that shape the code (types, widths, elements per
// thread) are written out.
#pragma once

#include <string>

#include "core/pattern/plan.h"
#include "kernels/program_shape.h"

namespace coalprof {

inline constexpr const char* access_kernel = "coalprof_access";
inline constexpr const char* near_check_kernel = "coalprof_near_check";
inline constexpr const char* fill_kernel = "coalprof_fill";
inline constexpr const char* compare_kernel = "coalprof_compare";

// The measured kernel. Parameters: each instruction's formula if it is new, the step of one
// that is even, an Operand per instruction, a LaunchArgument.
std::string compose_access(const Plan& plan, const ProgramShape& shape);

// For a program of shared or local memory alone (ProgramShape::needs_near_check): a kernel with the
// same parameters that fills its arrays, does the accesses of the measured one, and reports errors.
std::string compose_near_check(const Plan& plan, const ProgramShape& shape);

// coalprof_fill(Operand, Index elements) and coalprof_compare(Operand, Index elements,
// Index* first_wrong) for one width and content.
std::string compose_fill(std::uint32_t element_bytes, Content content);
std::string compose_compare(std::uint32_t element_bytes, Content content);

// For each instruction K that changes its array, kernels that find and undo its changes, over the
// logical indices, one a thread: coalprof_check_K and coalprof_restore_K of a store (parameters:
// [formula], Operand, Index threads, Index* first_wrong; a check of an array with an origin takes
// the origin's formula and Operand after its own), coalprof_undo_K of an atomic ([formula],
// Operand, LaunchArgument with the increment to add).
std::string compose_check(const Plan& plan, const ProgramShape& shape);

}  // namespace coalprof
