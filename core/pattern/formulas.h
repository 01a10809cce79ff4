// What index formulas are made of beside operators, and the tiles of a transpose: the model
// evaluates them on the CPU and the kernels, compiled at run time from this very text, on the GPU.
// A formula maps the logical index i of a thread's element (0, 1, 2, ... over the whole launch) to
// the element that is touched, or to idle_lane.
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

// A tile of a matrix is a square of 2^side_bits rows and columns; consecutive indices go along its
// rows. at() computes in the type of its arguments: kernels use 32 bits where these hold every
// element.

// A matrix tile by tile, line by line of tiles; a line is a row or a column of them. The steps are
// in elements. In a matrix of rows of w elements, tiles of side s follow each other at a distance
// of s from left to right and s * w from top to bottom; down its columns of tiles, step is s * w
// and line_step s.
struct Tiles {
    Index line_tiles = 1;  // tiles of a line
    Index step = 32;       // from a tile to the next one of its line
    Index line_step = 32;  // from a line to the next one
    Index pitch = 32;      // from a row within the tile to the next one
    Index side_bits = 5;
    constexpr Index elements() const { return Index{1} << 2 * side_bits; }
    constexpr Index operator()(Index i) const {
        return at(i >> 2 * side_bits, i & (elements() - 1));
    }
    template <typename Number>
    constexpr Number at(Number tile, Number cell) const {
        const Number line = tile / static_cast<Number>(line_tiles);
        const Number place = tile - line * static_cast<Number>(line_tiles);
        const Number row = cell >> side_bits;
        return place * static_cast<Number>(step) + line * static_cast<Number>(line_step) +
               row * static_cast<Number>(pitch) + cell - (row << side_bits);
    }
};

// A tile in the block's shared memory, the same for every tile of the matrix. Row by row, row_step
// is the padded width and column_step 1; column by column, the other way round.
struct TileCells {
    Index row_step = 32;
    Index column_step = 1;
    Index side_bits = 5;
    constexpr Index elements() const { return Index{1} << 2 * side_bits; }
    constexpr Index operator()(Index i) const { return at(i & (elements() - 1)); }
    template <typename Number>
    constexpr Number at(Number cell) const {
        const Number row = cell >> side_bits;
        return row * static_cast<Number>(row_step) +
               (cell - (row << side_bits)) * static_cast<Number>(column_step);
    }
};

// The same without padding: in row y column x is swapped with x ^ (y >> down << up), which stays in
// the row. Consecutive indices go along a row, or down a column.
struct SwizzledCells {
    Index goes_down = 0;
    Index side_bits = 5;
    Index down = 0;
    Index up = 0;
    constexpr Index elements() const { return Index{1} << 2 * side_bits; }
    constexpr Index operator()(Index i) const {
        const Index last = (Index{1} << side_bits) - 1;
        const Index line = i >> side_bits & last;
        const Index place = i & last;
        const Index y = goes_down != 0 ? place : line;
        const Index x = goes_down != 0 ? line : place;
        return (y << side_bits) + (x ^ (y >> down << up & last));
    }
};

}  // namespace coalprof
