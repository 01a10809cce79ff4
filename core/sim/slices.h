// How many of L2's slices work at once.
#pragma once

#include <algorithm>
#include <cmath>

namespace coalprof {

// A hash distributes lines among slices of L2. The number of slices that neighbouring lines lie in:
// 1, 2, 4 and 8 for 1, 4, 16 and 32 of them. From the rate at which L2 of a GH100 takes stores to
// them (tests/data/h100/gathered.jsonl.gz).
constexpr double slices_of(double lines) {
    return lines < 4 ? 1 : lines < 16 ? 2 : lines < 32 ? 4 : 8;
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
