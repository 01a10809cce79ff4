// One warp, one memory instruction, its 32 addresses as parameters (`coalprof warps`). These
// kernels have no other memory access: parameters come from the constant bank, and a loaded value
// is used in a comparison that is always false.
#pragma once

#include "kernels/source/instructions.cuh"
#include "kernels/source/near.cuh"

namespace coalprof {

__device__ __forceinline__ bool is_active(const WarpArgument& warp) {
    return (warp.active_lanes >> threadIdx.x & 1) != 0;
}

// Never executed: `nothing` is 0.
__device__ __forceinline__ void drain(Word word, const WarpArgument& warp) {
    if ((word & warp.nothing) != 0)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(warp.sink), "r"(word));
}

template <unsigned bytes>
__device__ __forceinline__ Word folded(const Value<bytes>& value) {
    Word all = 0;
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w) all ^= value.word[w];
    return all;
}

template <unsigned bytes>
__device__ __forceinline__ Value<bytes> repeated(Word word) {
    Value<bytes> value;
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w) value.word[w] = word;
    return value;
}

// Addresses of shared memory are offsets into the block's.
__device__ __forceinline__ Index shared_address(const WarpArgument& warp) {
    return shared_base() + warp.address[threadIdx.x];
}

#define COALPROF_WARP_KERNELS(bytes)                                                          \
    extern "C" __global__ void __launch_bounds__(32)                                          \
        coalprof_load_##bytes(const WarpArgument warp) {                                      \
        Value<bytes> value;                                                                   \
        load_value(value, warp.address[threadIdx.x], is_active(warp));                        \
        drain(folded(value), warp);                                                           \
    }                                                                                         \
    extern "C" __global__ void __launch_bounds__(32)                                          \
        coalprof_store_##bytes(const WarpArgument warp) {                                     \
        store_value(repeated<bytes>(warp.value), warp.address[threadIdx.x], is_active(warp)); \
    }                                                                                         \
    extern "C" __global__ void __launch_bounds__(32)                                          \
        coalprof_shared_load_##bytes(const WarpArgument warp) {                               \
        Value<bytes> value;                                                                   \
        load_value<Memory::shared>(value, shared_address(warp), is_active(warp));             \
        drain(folded(value), warp);                                                           \
    }                                                                                         \
    extern "C" __global__ void __launch_bounds__(32)                                          \
        coalprof_shared_store_##bytes(const WarpArgument warp) {                              \
        store_value<Memory::shared>(repeated<bytes>(warp.value), shared_address(warp),        \
                                    is_active(warp));                                         \
    }
COALPROF_WARP_KERNELS(1)
COALPROF_WARP_KERNELS(2)
COALPROF_WARP_KERNELS(4)
COALPROF_WARP_KERNELS(8)
COALPROF_WARP_KERNELS(16)

#define COALPROF_WARP_ATOMICS(bytes, number)                                                 \
    extern "C" __global__ void __launch_bounds__(32)                                         \
        coalprof_atomic_##bytes(const WarpArgument warp) {                                   \
        LaunchArgument launch;                                                               \
        launch.increment = warp.value;                                                       \
        drain(folded(add_value<number>(warp.address[threadIdx.x], is_active(warp), launch)), \
              warp);                                                                         \
    }                                                                                        \
    extern "C" __global__ void __launch_bounds__(32)                                         \
        coalprof_reduce_##bytes(const WarpArgument warp) {                                   \
        LaunchArgument launch;                                                               \
        launch.increment = warp.value;                                                       \
        reduce_value<number>(warp.address[threadIdx.x], is_active(warp), launch);            \
    }
COALPROF_WARP_ATOMICS(4, Number::u32)
COALPROF_WARP_ATOMICS(8, Number::u64)

}  // namespace coalprof
