// Decides if a program is run again, with code that counts its lines: only where that could find
// any, as it takes as long as the first run.
//
// Lines come from PTX. Both runs see the code that the program loads by the same calls of the
// driver, and the first one records of each load which it is:
// - PTX that this GPU compiles: the second run rewrites the kernels in it;
// - machine code alone: frameworks load so what they have compiled, and hand over its PTX where the
//   second run asks them to (cupti/attach/frameworks.h), which is then rewritten;
// - a fat binary without such PTX: compilers packed it, and it comes as it is in each run;
// - anything else, which may hold any kernel.
// A kernel that is in none of these came in a way that is not seen, and may have lines; where fat
// binaries without PTX were loaded it is taken for one of theirs, as their kernels are not named.
//
// The second run records as lacks_ptx why code does not count itself, whatever the reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/program/trace.h"

namespace coalprof {

// `traces`: of all processes of the first run. `wants`: selects kernels by their mangled names.
bool may_have_lines(const std::vector<Trace>& traces,
                    const std::function<bool(const std::string&)>& wants);

}  // namespace coalprof
