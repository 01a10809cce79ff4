// The content of arrays, for the kernels and for messages about it. Every element holds a
// different value, made from its index; bit 7 of each of its bytes says whether the program has
// stored to it. So a stored value depends on its place alone, whatever threads meet there and
// however often the kernel runs, and elements that were not stored to are recognised as such
// ("poison").
//
// Arrays that only atomics change hold small numbers instead, and count.
#pragma once

#include "kernels/source/arguments.h"

namespace coalprof {

inline constexpr Word touched_bits = 0x80808080u;

// The meaning of an array's values.
enum class Content : Word {
    marked,     // values with a bit that says if they were stored
    count_u32,  // numbers that atomics add to, in the element's own type
    count_u64,
    count_f32,
    count_f64,
    rows,  // a table of row addresses
};

// The parts of a launch that may have nothing to do in an instruction.
enum class Idle : Word {
    none,
    lanes,  // some of a warp
    warps,  // all of a warp, too
};

constexpr unsigned words_of(unsigned bytes) { return bytes <= 4 ? 1 : bytes / 4; }

// 32 bits of element `element`, word `word`. One multiplication and one addition, because a kernel
// that checks its loads must still be limited by memory. The factors are odd, so no two of 2^32
// elements share a word; their bits are well spread (the primes of xxHash).
constexpr Word spread_word(Index element, unsigned word, Word seed) {
    constexpr Word factors[4] = {0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du, 0x27D4EB2Fu};
    return static_cast<Word>(element) * factors[word] + seed;
}

// The same for an element of `bytes`: a narrow one takes the upper bits, which depend on the whole
// index.
constexpr Word pattern_word(unsigned bytes, Index element, unsigned word, Word seed) {
    const Word spread = spread_word(element, word, seed);
    return bytes < 4 ? spread >> (32 - 8 * bytes) : spread;
}
constexpr Word mark_of(unsigned bytes) {
    return bytes < 4 ? touched_bits >> (32 - 8 * bytes) : touched_bits;
}
constexpr Word untouched_word(unsigned bytes, Index element, unsigned word, Word seed) {
    return pattern_word(bytes, element, word, seed) & ~touched_bits;
}
constexpr Word touched_word(unsigned bytes, Index element, unsigned word, Word seed) {
    return pattern_word(bytes, element, word, seed) | mark_of(bytes);
}

// The start value of an array that counts: 0 .. 255, exact in every type.
constexpr Word start_count(Index element, Word seed) { return spread_word(element, 0, seed) >> 24; }

}  // namespace coalprof
