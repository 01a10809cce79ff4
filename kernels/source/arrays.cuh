// Filling an array and comparing it afterwards; composed for one element width and one content at a
// time (kernels/compose.cpp). Never launched inside a measurement.
#pragma once

#include "kernels/source/instructions.cuh"

namespace coalprof {

// The value of a marked array where some thread stored, or before any launch.
template <unsigned bytes, bool is_stored = false>
__device__ __forceinline__ Value<bytes> marked_value(Index element, Word seed) {
    Value<bytes> value;
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w)
        value.word[w] = is_stored ? touched_word(bytes, element, w, seed)
                                  : untouched_word(bytes, element, w, seed);
    return value;
}

// The content of an element before any launch.
template <unsigned bytes, Content content>
__device__ __forceinline__ Value<bytes> start_value(Index element, const Operand& operand) {
    if constexpr (content == Content::marked) {
        return marked_value<bytes>(element, operand.seed);
    } else {
        Index whole = start_count(element, operand.seed);
        if constexpr (content == Content::rows)
            whole = operand.rows_base + element * operand.row_bytes;
        else if constexpr (content == Content::count_f32)
            whole = __float_as_uint(static_cast<float>(whole));
        else if constexpr (content == Content::count_f64)
            whole = static_cast<Index>(__double_as_longlong(static_cast<double>(whole)));
        Value<bytes> value;
        value.word[0] = static_cast<Word>(whole);
        if constexpr (bytes == 8) value.word[1] = static_cast<Word>(whole >> 32);
        return value;
    }
}

// The bits in which an element differs from `expected`.
template <Memory memory = Memory::global, unsigned bytes>
__device__ __forceinline__ Word difference(Index address, const Value<bytes>& expected) {
    Value<bytes> found;
    load_value<memory>(found, address, true);
    Word differing = 0;
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w) differing |= found.word[w] ^ expected.word[w];
    return differing;
}

// Finds the first element that is not as expected.
template <unsigned bytes>
__device__ __forceinline__ void compare_with(const Value<bytes>& expected, const Operand& operand,
                                             Index element, Index* first_wrong) {
    if (difference(operand.base + element * bytes, expected) != 0) atomicMin(first_wrong, element);
}

template <unsigned bytes, Content content>
__device__ __forceinline__ void fill(const Operand& operand, Index elements) {
    const Index element = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (element < elements)
        store_value(start_value<bytes, content>(element, operand), operand.base + element * bytes,
                    true);
}

template <unsigned bytes, Content content>
__device__ __forceinline__ void compare_with_start(const Operand& operand, Index elements,
                                                   Index* first_wrong) {
    const Index element = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (element < elements)
        compare_with(start_value<bytes, content>(element, operand), operand, element, first_wrong);
}

// For an element that a thread stored to.
template <unsigned bytes>
__device__ __forceinline__ void compare_with_touched(const Operand& operand, Index element,
                                                     Index* first_wrong) {
    compare_with(marked_value<bytes, true>(element, operand.seed), operand, element, first_wrong);
}

// The same where threads stored the content of another array: element `from` of `source`.
template <unsigned bytes>
__device__ __forceinline__ void compare_with_origin(const Operand& operand, Index element,
                                                    const Operand& source, Index from,
                                                    Index* first_wrong) {
    compare_with(marked_value<bytes>(from, source.seed), operand, element, first_wrong);
}

// Restores the start value where a thread stored; all threads with the same place write the same.
template <unsigned bytes>
__device__ __forceinline__ void restore(const Operand& operand, Index element) {
    store_value(marked_value<bytes>(element, operand.seed), operand.base + element * bytes, true);
}

}  // namespace coalprof
