// Shared and local memory begin with a launch and end with it, so a separate launch checks the
// program's accesses there: it fills the array, does the accesses of the measured kernel, and
// looks. Composed around the same code (kernels/compose.cpp); never launched inside a measurement.
#pragma once

#include "kernels/source/access.cuh"
#include "kernels/source/arrays.cuh"

namespace coalprof {

// One array in one thread's view: filled and compared by `workers` threads together, of which this
// is number `worker`; local memory by each thread alone.
struct NearArray {
    Index base;
    Word elements;
    Word seed;
    Word worker;
    Word workers;
};

template <Memory memory, unsigned bytes>
__device__ __forceinline__ void fill_near(const NearArray& array) {
#pragma unroll 1
    for (Word e = array.worker; e < array.elements; e += array.workers)
        store_value<memory>(marked_value<bytes>(e, array.seed), array.base + e * bytes, true);
}

// Calls visit(element) for the elements that this thread touches.
template <typename Formula, typename Visit>
__device__ __forceinline__ void each_own(const Formula& formula, Index first, int block,
                                         int per_thread, Index threads, Visit visit) {
#pragma unroll 1
    for (int j = 0; j < per_thread; ++j) {
        const Index i = first + static_cast<Index>(j) * block;
        if (i >= threads) return;
        const Index element = formula(i);
        if (element != idle_lane) visit(element);
    }
}

// Collects in `seen` the bits in which elements that this thread stored to differ from the stored
// values.
template <Memory memory, unsigned bytes, typename Formula>
__device__ __forceinline__ void compare_stored(Word& seen, const NearArray& array,
                                               const Formula& formula, Index first, int block,
                                               int per_thread, Index threads) {
    each_own(formula, first, block, per_thread, threads, [&](Index element) {
        seen |= difference<memory>(array.base + element * bytes,
                                   marked_value<bytes, true>(element, array.seed));
    });
}

// Restores the start values there.
template <Memory memory, unsigned bytes, typename Formula>
__device__ __forceinline__ void restore_stored(const NearArray& array, const Formula& formula,
                                               Index first, int block, int per_thread,
                                               Index threads) {
    each_own(formula, first, block, per_thread, threads, [&](Index element) {
        store_value<memory>(marked_value<bytes>(element, array.seed), array.base + element * bytes,
                            true);
    });
}

// Collects in `seen` the bits in which any element differs from its filling.
template <Memory memory, unsigned bytes>
__device__ __forceinline__ void compare_filled(Word& seen, const NearArray& array) {
#pragma unroll 1
    for (Word e = array.worker; e < array.elements; e += array.workers)
        seen |= difference<memory>(array.base + e * bytes, marked_value<bytes>(e, array.seed));
}

}  // namespace coalprof
