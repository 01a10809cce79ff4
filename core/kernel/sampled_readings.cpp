#include "core/kernel/sampled_readings.h"

#include <algorithm>
#include <cmath>

namespace coalprof {
namespace {

// Student's t with 15 degrees of freedom: nine of ten means of 16 groups lie within this many
// standard errors.
constexpr double t_of_16_groups = 1.753;

double standard_error(const std::vector<double>& values) {
    double mean = 0, squares = 0;
    for (const double one : values) mean += one;
    const auto count = static_cast<double>(values.size());
    mean /= count;
    for (const double one : values) squares += (one - mean) * (one - mean);
    return values.size() < 2 ? 0 : std::sqrt(squares / (count - 1) / count);
}

}  // namespace

void extrapolate(Point& point, const std::vector<Readings>& groups, double scale) {
    Readings scaled = point.predicted;
    Estimates estimates;
    point.predicted.each([&](Counter counter, const Reading& reading) {
        if (!is_number(reading)) return;
        const bool is_total = std::holds_alternative<std::uint64_t>(reading);
        const double factor = is_total ? scale : 1;
        std::vector<double> values;
        for (const Readings& one : groups)  // missing totals of a group are 0
            if (is_number(one[counter]) || is_total)
                values.push_back(number_or(one[counter], 0) * factor *
                                 (is_total ? static_cast<double>(groups.size()) : 1));
        const double value = number_in(reading) * factor;
        const double half = t_of_16_groups * standard_error(values);
        if (is_total) scaled[counter] = static_cast<std::uint64_t>(std::llround(value));
        estimates.intervals.push_back({counter, std::max(0.0, value - half), value + half});
    });
    point.predicted = scaled;
    point.estimates = std::move(estimates);
}

}  // namespace coalprof
