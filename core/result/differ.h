// The certainty that two values of one counter differ, given the uncertainty of each. All code that
// asks which is better, or if something changed, asks here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// A value with its range: the interval of an estimate, the quartiles of repeated times. The ends of
// an exact number are that number.
struct Amount {
    double low = 0;
    double middle = 0;
    double high = 0;

    static Amount exactly(double number) { return {number, number, number}; }
    Amount& operator+=(const Amount& more);
    Amount operator/(double divisor) const;
};

// None where there is no finite number.
std::optional<Amount> predicted_amount(const Point& point, Counter counter);
std::optional<Amount> measured_amount(const Point& point, Counter counter);

enum class Differ : std::uint8_t {
    no,       // they differ by at most the tolerance, a share of the smaller one
    perhaps,  // each may be the other
    likely,   // the larger one is above the smaller one's range, but its range is not
    surely,   // the ends do not overlap
};
Differ differ(const Amount& a, const Amount& b, double tolerance);

// Several amounts of one counter, ranked.
struct Ranked {
    std::vector<std::size_t> order;  // the best first; equal ones keep their order
    std::vector<std::size_t> best;   // not surely worse than the best, as given
    std::size_t worst = 0;           // the first of equals
    double gain = 1;                 // how many times better the best is than the worst
};
Ranked ranked(const std::vector<Amount>& amounts, bool is_more_better, double tolerance);

// The relative difference of this counter's values without any real change.
double noise_of(Counter counter, bool is_measured);

}  // namespace coalprof
