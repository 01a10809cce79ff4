// Filling an array and comparing it afterwards; composed for one element width and one content at a
// time (kernels/compose.cpp). Never launched inside a measurement.
#pragma once

#include "kernels/source/arguments.h"
#include "kernels/source/values.h"

namespace coalprof {

// The content of word `word` of an element before any launch.
template <unsigned bytes, Content content>
__device__ __forceinline__ Word start_word(Index element, unsigned word, const Operand& operand) {
    if constexpr (content == Content::marked) {
        return untouched_word(bytes, element, word, operand.seed);
    } else if constexpr (content == Content::count_f32) {
        return __float_as_uint(static_cast<float>(start_count(element, operand.seed)));
    } else {
        Index whole = 0;
        if constexpr (content == Content::rows)
            whole = operand.rows_base + element * operand.row_bytes;
        else if constexpr (content == Content::count_f64)
            whole = static_cast<Index>(
                __double_as_longlong(static_cast<double>(start_count(element, operand.seed))));
        else
            whole = start_count(element, operand.seed);
        return static_cast<Word>(word == 0 ? whole : whole >> 32);
    }
}

// An element in memory: one access of its width.
template <unsigned bytes>
struct Cell;
template <>
struct Cell<1> {
    using Type = unsigned char;
};
template <>
struct Cell<2> {
    using Type = unsigned short;
};
template <>
struct Cell<4> {
    using Type = unsigned int;
};
template <>
struct Cell<8> {
    using Type = uint2;
};
template <>
struct Cell<16> {
    using Type = uint4;
};

template <unsigned bytes>
__device__ __forceinline__ typename Cell<bytes>::Type cell_of(const Word (&words)[4]) {
    if constexpr (bytes == 8)
        return make_uint2(words[0], words[1]);
    else if constexpr (bytes == 16)
        return make_uint4(words[0], words[1], words[2], words[3]);
    else
        return static_cast<typename Cell<bytes>::Type>(words[0]);
}

template <unsigned bytes>
__device__ __forceinline__ bool same(const typename Cell<bytes>::Type& a,
                                     const typename Cell<bytes>::Type& b) {
    if constexpr (bytes == 8)
        return a.x == b.x && a.y == b.y;
    else if constexpr (bytes == 16)
        return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
    else
        return a == b;
}

template <unsigned bytes, Content content>
__device__ __forceinline__ typename Cell<bytes>::Type start_cell(Index element,
                                                                 const Operand& operand) {
    Word words[4] = {};
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w)
        words[w] = start_word<bytes, content>(element, w, operand);
    return cell_of<bytes>(words);
}

template <unsigned bytes, Content content>
__device__ __forceinline__ void fill(const Operand& operand, Index elements) {
    const Index element = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (element < elements)
        reinterpret_cast<typename Cell<bytes>::Type*>(operand.base)[element] =
            start_cell<bytes, content>(element, operand);
}

// Finds the first element that differs from its filling.
template <unsigned bytes, Content content>
__device__ __forceinline__ void compare_with_start(const Operand& operand, Index elements,
                                                   Index* first_wrong) {
    const Index element = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (element >= elements) return;
    const auto found = reinterpret_cast<typename Cell<bytes>::Type*>(operand.base)[element];
    if (!same<bytes>(found, start_cell<bytes, content>(element, operand)))
        atomicMin(first_wrong, element);
}

// Finds the first element that a thread stored to and that does not hold the stored value.
template <unsigned bytes>
__device__ __forceinline__ void compare_with_touched(const Operand& operand, Index element,
                                                     Index* first_wrong) {
    Word words[4] = {};
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w)
        words[w] = touched_word(bytes, element, w, operand.seed);
    const auto found = reinterpret_cast<typename Cell<bytes>::Type*>(operand.base)[element];
    if (!same<bytes>(found, cell_of<bytes>(words))) atomicMin(first_wrong, element);
}

// The same where threads stored the content of another array: element `from` of `source`.
template <unsigned bytes>
__device__ __forceinline__ void compare_with_origin(const Operand& operand, Index element,
                                                    const Operand& source, Index from,
                                                    Index* first_wrong) {
    const auto found = reinterpret_cast<typename Cell<bytes>::Type*>(operand.base)[element];
    if (!same<bytes>(found, start_cell<bytes, Content::marked>(from, source)))
        atomicMin(first_wrong, element);
}

// Restores the start value where a thread stored; all threads with the same place write the same.
template <unsigned bytes>
__device__ __forceinline__ void restore(const Operand& operand, Index element) {
    reinterpret_cast<typename Cell<bytes>::Type*>(operand.base)[element] =
        start_cell<bytes, Content::marked>(element, operand);
}

}  // namespace coalprof
