// The clock is read before and after the one action of each kernel: the latency of an instruction,
// a load, a block, in cycles of its multiprocessor.
#pragma once

#include "kernels/source/arguments.h"

namespace coalprof {

__device__ __forceinline__ Index nanoseconds() {
    Index now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
__device__ __forceinline__ Index cycles() { return static_cast<Index>(clock64()); }

__device__ __forceinline__ void record(ClockRecord* const records, const Index begin,
                                       const Index begun_nanoseconds) {
    const Index end = cycles();
    Word multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    records[blockIdx.x] = {begin, end, nanoseconds() - begun_nanoseconds, multiprocessor};
}

// Cells `step` bytes from each other: each holds the address of the next one, the last that of the
// first.
extern "C" __global__ void coalprof_link(const Index cells, const Index step, const Index count) {
    const Index k = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k < count) *reinterpret_cast<Index*>(cells + k * step) = cells + (k + 1) % count * step;
}

#define COALPROF_FOLLOW(name, instruction)                                                \
    __device__ __forceinline__ Index name(Index at, const Index loads) {                  \
        _Pragma("unroll 16") for (Index k = 0; k < loads;                                 \
                                  ++k) asm volatile(instruction : "+l"(at) : : "memory"); \
        return at;                                                                        \
    }
COALPROF_FOLLOW(follow_l1, "ld.global.ca.u64 %0, [%0];")
COALPROF_FOLLOW(follow_l2, "ld.global.cg.u64 %0, [%0];")
COALPROF_FOLLOW(follow_shared, "ld.shared.u64 %0, [%0];")

// One thread of each block follows the cells, from a different place, `before` loads ahead of those
// that are timed.
#define COALPROF_CHASE(name, follow)                                                            \
    extern "C" __global__ void name(const Index cells, const Index step, const Index count,     \
                                    const Index before, const Index loads, const Index nothing, \
                                    ClockRecord* const records) {                               \
        Index at = follow(cells + blockIdx.x * (count / gridDim.x) * step, before);             \
        const Index begin = cycles();                                                           \
        at = follow(at, loads);                                                                 \
        record(records, begin, 0);                                                              \
        if (at == nothing) records[0].begin = at;                                               \
    }
COALPROF_CHASE(coalprof_chase_l1, follow_l1)
COALPROF_CHASE(coalprof_chase_l2, follow_l2)

extern "C" __global__ void coalprof_chase_shared(const Index loads, const Index nothing,
                                                 ClockRecord* const records) {
    constexpr Word count = 64;
    __shared__ Index cells[count];
    const Index first = __cvta_generic_to_shared(cells);
    for (Word k = 0; k < count; ++k) cells[k] = first + (k + 1) % count * sizeof(Index);
    Index at = follow_shared(first, count);
    const Index begin = cycles();
    at = follow_shared(at, loads);
    record(records, begin, 0);
    if (at == nothing) records[0].begin = at;
}

// Each product waits for the one before.
extern "C" __global__ void coalprof_depend(const Index instructions, const float factor,
                                           ClockRecord* const records) {
    float value = factor;
    const Index begin = cycles();
#pragma unroll 64
    for (Index k = 0; k < instructions; ++k)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(value) : "f"(factor));
    record(records, begin, 0);
    if (value == 1) records[0].begin = 0;
}

// All multiprocessors compute for `duration` cycles.
extern "C" __global__ void coalprof_compute(const Index duration, const float factor,
                                            ClockRecord* const records) {
    float value = factor;
    const Index begun_nanoseconds = nanoseconds();
    const Index begin = cycles();
    while (cycles() - begin < duration) {
#pragma unroll
        for (int k = 0; k < 64; ++k)
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(value) : "f"(factor));
    }
    if (threadIdx.x == 0) record(records, begin, begun_nanoseconds);
    if (value == 1) records[0].begin = 0;
}

// The bytes that one block, alone on a multiprocessor, gets from L2: `apart` bytes from thread to
// thread, again and again within `bytes`, a power of two.
template <typename Cell>
__device__ __forceinline__ void fetch(const char* const cells, const Index apart, const Index bytes,
                                      const Index rounds, const Word nothing,
                                      ClockRecord* const records) {
    constexpr int at_once = 8;
    Word all = 0;
    __syncthreads();
    const Index begin = cycles();
    for (Index round = 0; round < rounds; ++round) {
        Cell loaded[at_once];
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            const Index place = ((round * at_once + j) * blockDim.x + threadIdx.x) * apart;
            loaded[j] = __ldcg(reinterpret_cast<const Cell*>(cells + (place & (bytes - 1))));
        }
#pragma unroll
        for (int j = 0; j < at_once; ++j) all |= loaded[j].x;
    }
    if ((all & nothing) != 0) records[0].begin = all;
    __syncthreads();
    if (threadIdx.x == 0) record(records, begin, 0);
}
extern "C" __global__ void coalprof_fetch_words(const char* const cells, const Index apart,
                                                const Index bytes, const Index rounds,
                                                const Word nothing, ClockRecord* const records) {
    fetch<uint2>(cells, apart, bytes, rounds, nothing, records);
}
extern "C" __global__ void coalprof_fetch_lines(const char* const cells, const Index apart,
                                                const Index bytes, const Index rounds,
                                                const Word nothing, ClockRecord* const records) {
    fetch<uint4>(cells, apart, bytes, rounds, nothing, records);
}

// Blocks of which a multiprocessor holds one at a time: the time from the end of one to the begin
// of the next. They end at different times, so that no two begin at once.
extern "C" __global__ void coalprof_follow(ClockRecord* const records) {
    const Index begin = cycles();
    const Index duration = 3000 + blockIdx.x * 977 % 4096;
    while (cycles() - begin < duration) {
    }
    __syncthreads();
    if (threadIdx.x == 0) record(records, begin, 0);
}

}  // namespace coalprof
