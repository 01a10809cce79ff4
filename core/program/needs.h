// Finds the instructions that decide addresses, branches and barriers: only these are executed.
#pragma once

#include "core/program/code.h"

namespace coalprof {

// Sets is_needed of instructions and parameters, and the memory that they need. Throws UsageError
// where an instruction that is needed is not known. May be repeated.
void mark_needs(Code& code);

}  // namespace coalprof
