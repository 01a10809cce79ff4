// Kernels around a timed launch: emptying L2 and keeping the GPU busy.
#pragma once

#include "kernels/source/arguments.h"

namespace coalprof {

// Reads a buffer larger than L2, so that nothing else stays there. It reads and does not write: its
// lines in L2 are clean, and none is written back while the next kernel is timed.
extern "C" __global__ void __launch_bounds__(256)
    coalprof_flush(const uint4* const buffer, const Index cells, const Word nothing,
                   Word* const sink) {
    Word all = 0;
    const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
    for (Index k = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; k < cells;
         k += step) {
        const uint4 cell = buffer[k];
        all |= cell.x | cell.y | cell.z | cell.w;
    }
    if ((all & nothing) != 0) *sink = all;
}

// Keeps the GPU busy for some clock cycles without touching memory, while the host enqueues the
// next work without a gap.
extern "C" __global__ void coalprof_pause(const long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

}  // namespace coalprof
