// Reads a program's NVTX ranges: by the functions that NVTX 3 lets a tool put into its tables (its
// nvtxTypes.h), which each library and program brings along.
#pragma once

#include <cstdint>

#include "cupti/attach/nvtx_ranges.h"

namespace coalprof {

// NVTX's NvtxGetExportTableFunc_t: a table by its number.
using NvtxTables = const void* (*)(std::uint32_t);

// True if it was built with NVTX's headers; without them no range is ever seen.
bool knows_nvtx();

// From now on `ranges`, which must live as long as the program, gets them. False: these are no
// tables that we know.
bool install_nvtx_hooks(NvtxTables tables, NvtxRanges& ranges);

}  // namespace coalprof
