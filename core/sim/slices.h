// How many of L2's slices work at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace coalprof {

// A hash distributes groups of this many neighbouring lines among slices of L2: an H200 takes loads
// of 4 lines no faster than of one, those of 8 and 16 by 2 and 3 slices
// (docs/measurements/h200/met_lines.txt).
inline constexpr std::uint64_t lines_of_slice = 4;

// The number of slices that neighbouring lines lie in: 1, 2, 4 and 8 for 4, 8, 16 and 32 of them.
constexpr double slices_of(double lines) {
    return lines < 8 ? 1 : lines < 16 ? 2 : lines < 32 ? 4 : 8;
}

// The slices of L2 that accesses keep busy, if so many of them lie in so many lines: few lines are
// in few slices; of many a hash gives one slice more than others.
// docs/measurements/h100/slices.txt: sums and stores at random places in 1 to 2^23 lines. As many
// lines as `many` are as fast as more.
inline double busy_slices(double lines, double slices) {
    if (lines < 32) return slices_of(lines);
    constexpr double most_deviates = 2.4, many = 32'768;  // of 80 slices, the largest
    const double more = std::sqrt(slices / std::min(lines, many)) - std::sqrt(slices / many);
    return std::min(std::max(slices_of(lines), lines / 5), slices / (1 + most_deviates * more));
}

}  // namespace coalprof
