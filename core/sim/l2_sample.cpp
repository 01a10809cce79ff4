#include "core/sim/l2_sample.h"

#include <algorithm>
#include <numeric>

namespace coalprof {
namespace {

constexpr double scale = 64;  // of whole numbers in WorkShape

}  // namespace

// In whole numbers, so that the sum does not depend on the order in which threads add.
void WorkShape::add(double first, double last, double amount) {
    const double begin = first * parts, end = std::min(last, 1.0) * parts;
    for (auto i = static_cast<std::size_t>(begin); i < parts && double(i) < end; ++i)
        amounts_[i] += static_cast<std::uint64_t>(
            scale * amount * (std::min(end, double(i + 1)) - std::max(begin, double(i))) /
            (end - begin));
}

void WorkShape::add(const WorkShape& other) {
    for (std::size_t i = 0; i < parts; ++i) amounts_[i] += other.amounts_[i];
}

double WorkShape::all() const {
    return static_cast<double>(
               std::accumulate(amounts_.begin(), amounts_.end(), std::uint64_t{0})) /
           scale;
}

double WorkShape::middle() const {
    double rest = all() * scale / 2;
    for (std::size_t i = 0; i < parts; ++i) {
        const auto here = static_cast<double>(amounts_[i]);
        if (here > 0 && here >= rest) return (double(i) + rest / here) / parts;
        rest -= here;
    }
    return 0.5;
}

double WorkShape::density(double place) const {
    const double sum = all();
    const auto part = std::min(parts - 1, static_cast<std::size_t>(place * parts));
    return sum > 0 ? static_cast<double>(amounts_[part]) * parts / (sum * scale) : 1;
}

}  // namespace coalprof
