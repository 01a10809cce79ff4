// Loads and stores of shared memory that ptxas merges into one: LDS.128 for four neighbouring
// floats.
#pragma once

#include "core/program/code.h"

namespace coalprof {

// Where loads were merged, the first has the results of all; of stores the last has all values.
// Lanes access the same places as before, in fewer requests.
void merge_shared_accesses(Code& code);

}  // namespace coalprof
