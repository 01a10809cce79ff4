// The transpose, three ways: `naive` stores down the columns of its result, `tile` and `padded`
// turn tiles of 32 x 32 or 64 x 64 in shared memory so that loads and stores of global memory both
// go along rows. Made like the others, by the catalog.
#pragma once

#include "core/pattern/plan.h"

namespace coalprof {

Program make_transpose(const Plan& plan);

// Elements that each thread handles: a tile takes a whole block, which decides it. Throws
// UsageError for a block that a tile cannot be divided among, and for a variant that is not there.
std::uint32_t transpose_per_thread(const PatternOptions& options, const LaunchShape& shape);

std::vector<std::string_view> transpose_variants();

}  // namespace coalprof
