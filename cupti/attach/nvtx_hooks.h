// Has NVTX tell a program's ranges: by the functions that NVTX 3 lets a tool put into its tables
// (its nvtxTypes.h), which each library and program brings of its own.
#pragma once

#include <cstdint>

#include "cupti/attach/nvtx_ranges.h"

namespace coalprof {

// NVTX's NvtxGetExportTableFunc_t: a table by its number.
using NvtxTables = const void* (*)(std::uint32_t);

// Whether it was built with NVTX's headers; without them nothing is ever told.
bool knows_nvtx();

// From now on `ranges`, which must live as long as the program, is told. False: these are no tables
// that we know.
bool install_nvtx_hooks(NvtxTables tables, NvtxRanges& ranges);

}  // namespace coalprof
