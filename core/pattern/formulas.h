// What index formulas are made of beside operators: the model evaluates it on the CPU and the
// kernels, compiled at run time from this very text, on the GPU. A formula maps the logical index i
// of a thread's element (0, 1, 2, ... over the whole launch) to the element that is touched, or to
// idle_lane.
//
// No standard header and no CUDA word may appear here: NVRTC reads it as it stands.
#pragma once

namespace coalprof {

using Index = unsigned long long;  // 64 bits in both C++ and CUDA

// The answer of a formula for an idle lane.
inline constexpr Index idle_lane = ~Index{0};

// A random element of the first `elements`, the same for the same i and seed.
struct Scatter {
    Index elements = 1;
    Index seed = 0;
    // SplitMix64's finaliser (Steele, Lea, Flood 2014): one well-mixed word per index.
    static constexpr Index mixed(Index word) {
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
        word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
        return word ^ (word >> 31);
    }
    constexpr Index word(Index i) const {
        return mixed(i + seed * 0x9E3779B97F4A7C15ull + 0x9E3779B97F4A7C15ull);
    }
    // The remainder favours small elements by less than elements / 2^64: nothing one could count.
    constexpr Index operator()(Index i) const { return word(i) % elements; }
};

// CUDA's __popc, __clz and __brev: of the low 32 bits.
struct Bits32 {
    static constexpr Index population(Index word) {
        Index count = 0;
        for (word &= 0xFFFFFFFFull; word != 0; word &= word - 1) ++count;
        return count;
    }
    static constexpr Index leading_zeros(Index word) {
        Index count = 32;
        for (word &= 0xFFFFFFFFull; word != 0; word >>= 1) --count;
        return count;
    }
    static constexpr Index reversed(Index word) {
        word = (word >> 1 & 0x55555555ull) | (word & 0x55555555ull) << 1;
        word = (word >> 2 & 0x33333333ull) | (word & 0x33333333ull) << 2;
        word = (word >> 4 & 0x0F0F0F0Full) | (word & 0x0F0F0F0Full) << 4;
        word = (word >> 8 & 0x00FF00FFull) | (word & 0x00FF00FFull) << 8;
        return (word >> 16 & 0xFFFFull) | (word & 0xFFFFull) << 16;
    }
};

// a / b for a `reciprocal` of floor((2^64 - 1) / b): (a + 1) * reciprocal / 2^64 is exact in 32
// bits.
struct Reciprocal {
    static constexpr unsigned quotient(unsigned a, Index reciprocal) {
        const unsigned low = static_cast<unsigned>(reciprocal),
                       high = static_cast<unsigned>(reciprocal >> 32);
        return static_cast<unsigned>((Index{a} * high + high + ((Index{a} * low + low) >> 32)) >>
                                     32);
    }
};

}  // namespace coalprof
