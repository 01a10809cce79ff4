// The beginnings of arrays of shared, constant and local memory, as addresses in their windows.
#pragma once

#include "kernels/source/arguments.h"
#include "kernels/source/values.h"

namespace coalprof {

// Shared memory: the block's dynamic allocation. Its start is aligned to a row of all banks.
extern __shared__ __align__(128) unsigned char block_memory[];

__device__ __forceinline__ Index shared_base() { return __cvta_generic_to_shared(block_memory); }

// An array of constant memory. The compiler stores its values, those of a marked array before any
// store.
template <unsigned bytes>
struct ConstantPart {
    using Type = Word;
};
template <>
struct ConstantPart<1> {
    using Type = unsigned char;
};
template <>
struct ConstantPart<2> {
    using Type = unsigned short;
};

template <unsigned bytes, unsigned elements>
struct alignas(16) ConstantArray {
    using Part = typename ConstantPart<bytes>::Type;
    static constexpr unsigned parts = words_of(bytes);
    Part part[parts * elements];

    constexpr explicit ConstantArray(Word seed) : part{} {
        for (unsigned e = 0; e < elements; ++e)
            for (unsigned w = 0; w < parts; ++w)
                part[e * parts + w] = static_cast<Part>(untouched_word(bytes, e, w, seed));
    }
};

template <typename Array>
__device__ __forceinline__ Index constant_base(const Array& array) {
    return __cvta_generic_to_constant(&array);
}

// Local memory: an array of each thread. Only inline assembly uses it, so it is not moved to
// registers.
template <unsigned bytes, unsigned elements>
struct alignas(16) LocalArray {
    unsigned char byte[bytes * elements];
};

template <typename Array>
__device__ __forceinline__ Index local_base(Array& array) {
    return __cvta_generic_to_local(&array);
}

}  // namespace coalprof
