// Lines of which one in a power of two is sampled: of a region one row of several, then of an area
// some regions, then some areas, as hashes say. Accesses that advance evenly skip what lies
// between, and few lines are sampled as evenly as many.
#pragma once

#include <cstdint>

namespace coalprof {

// What one activation of a row of device memory serves: addresses beyond are in other channels
// (strides of tests/data/h100 and h200).
inline constexpr std::uint64_t dram_row_lines = 2;

struct SampledLines {
    std::uint32_t halvings = 0;

    bool holds(std::uint64_t line) const;
    // A line at or before the next one that is held, in the direction of `step`, which is not 0;
    // another one than `line`.
    std::uint64_t next(std::uint64_t line, std::int64_t step) const;
};

}  // namespace coalprof
