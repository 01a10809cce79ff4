// The simplest loops that read memory, 16 bytes a lane, to find the highest rate of this GPU: each
// thread reads `count` cells that lie a block apart, or walks the buffer with the whole grid.
#pragma once

#include "kernels/source/arguments.h"

namespace coalprof {

template <int count>
__device__ __forceinline__ void read_once(const uint4* buffer, Word nothing, Word* sink) {
    const uint4* const first =
        buffer + static_cast<Index>(blockIdx.x) * blockDim.x * count + threadIdx.x;
    uint4 cells[count];
#pragma unroll
    for (int j = 0; j < count; ++j) cells[j] = first[static_cast<Index>(j) * blockDim.x];
    Word all = 0;
#pragma unroll
    for (int j = 0; j < count; ++j) all |= cells[j].x | cells[j].y | cells[j].z | cells[j].w;
    if ((all & nothing) != 0) *sink = all;
}

#define COALPROF_READ_ONCE(count)                                                                  \
    extern "C" __global__ void coalprof_read_##count(const uint4* const buffer, const Index cells, \
                                                     const Word nothing, Word* const sink) {       \
        read_once<count>(buffer, nothing, sink);                                                   \
    }
COALPROF_READ_ONCE(2)
COALPROF_READ_ONCE(4)

extern "C" __global__ void coalprof_read_grid(const uint4* const buffer, const Index cells,
                                              const Word nothing, Word* const sink) {
    constexpr int count = 8;
    const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
    Word all = 0;
    Index first = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; first + (count - 1) * step < cells; first += count * step) {
        uint4 read[count];
#pragma unroll
        for (int j = 0; j < count; ++j) read[j] = buffer[first + j * step];
#pragma unroll
        for (int j = 0; j < count; ++j) all |= read[j].x | read[j].y | read[j].z | read[j].w;
    }
    for (; first < cells; first += step) {
        const uint4 cell = buffer[first];
        all |= cell.x | cell.y | cell.z | cell.w;
    }
    if ((all & nothing) != 0) *sink = all;
}

}  // namespace coalprof
