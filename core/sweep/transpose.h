// The transpose through tiles of 16 x 16 to 64 x 64 in shared memory, so that loads and stores of
// global memory both go along rows; `padded` and `swizzled` spread a tile's columns over the banks.
// Its instructions hand values on and wait for each other, which no row of the catalog says.
#pragma once

#include "core/pattern/plan.h"

namespace coalprof {

// The program of a variant other than naive. Throws UsageError where the matrix has no whole tiles.
Program make_tiled_transpose(const Plan& plan);

// Columns and rows of a tile; none for the naive variant. The default is 64 for elements of up to 4
// bytes and else 32, for rows of 256 bytes where they fit: shorter ones are slower on an H200
// (docs/measurements.md). Throws UsageError for an unknown variant or tile.
std::optional<std::uint64_t> transpose_tile(const PatternOptions& options, ElementType type);

// Elements from one row of a tile to the next, where the rows are padded.
std::optional<std::uint64_t> padded_tile_row(const PatternOptions& options, ElementType type);

// The same for every tile, its columns where it is not padded; none without a tile.
std::optional<std::uint64_t> tile_pitch(const PatternOptions& options, ElementType type);

// Elements of each thread: a block takes a whole tile, which decides it. Throws UsageError for a
// block that does not divide a tile, and as transpose_tile() does.
std::uint32_t transpose_per_thread(const PatternOptions& options, ElementType type,
                                   const LaunchShape& shape);

// True if a tile can be chosen for it.
bool has_tile(std::string_view variant);

}  // namespace coalprof
