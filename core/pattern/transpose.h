// The transpose, four ways: `naive` stores down the columns of its result, the others transpose
// tiles of 16 x 16 to 64 x 64 in shared memory so that loads and stores of global memory both go
// along rows; `padded` and `swizzled` spread their columns over the banks. Made like the others, by
// the catalog.
#pragma once

#include "core/pattern/plan.h"

namespace coalprof {

Program make_transpose(const Plan& plan);

// Columns and rows of a tile; none for the naive variant. Unless it was chosen, 64 for elements of
// up to 4 bytes and else 32, for rows of 256 bytes where there is room for them: shorter ones are
// slower on an H200 (docs/measurements.md). Throws UsageError for a variant or a tile that is not
// there.
std::optional<std::uint64_t> transpose_tile(const PatternOptions& options, ElementType type);

// Elements from one row of a tile to the next, where the rows are padded.
std::optional<std::uint64_t> padded_tile_row(const PatternOptions& options, ElementType type);

// The same of every tile, its columns where it is not padded; none without a tile.
std::optional<std::uint64_t> tile_pitch(const PatternOptions& options, ElementType type);

// Elements that each thread handles: a tile takes a whole block, which decides it. Throws
// UsageError for a block that a tile cannot be divided among, and as transpose_tile() does.
std::uint32_t transpose_per_thread(const PatternOptions& options, ElementType type,
                                   const LaunchShape& shape);

std::vector<std::string_view> transpose_variants();
// True if a tile can be chosen for it.
bool has_tile(std::string_view variant);

}  // namespace coalprof
