#include "core/result/differ.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace coalprof {
namespace {

// Two measured times are never equal, however exact the clock.
constexpr double noise_of_measured_times = 1e-2;
// Small changes at the edges of blocks alter estimates of time in their sixth digit.
constexpr double noise_of_predicted_times = 1e-3;
// Sums and means of exact numbers are rounded.
constexpr double noise_of_rounding = 1e-9;

std::optional<Amount> exact_amount(const Reading& reading) {
    if (!is_number(reading) || !std::isfinite(number_in(reading))) return std::nullopt;
    return Amount::exactly(number_in(reading));
}

}  // namespace

Amount& Amount::operator+=(const Amount& more) {
    low += more.low;
    middle += more.middle;
    high += more.high;
    return *this;
}

Amount Amount::operator/(double divisor) const {
    return {low / divisor, middle / divisor, high / divisor};
}

std::optional<Amount> predicted_amount(const Point& point, Counter counter) {
    std::optional<Amount> amount = exact_amount(point.predicted[counter]);
    const Interval* interval = point.estimates ? point.estimates->of(counter) : nullptr;
    if (amount && interval) {
        amount->low = interval->low;
        amount->high = interval->high;
    }
    return amount;
}

std::optional<Amount> measured_amount(const Point& point, Counter counter) {
    if (!point.measured) return std::nullopt;
    std::optional<Amount> amount = exact_amount((*point.measured)[counter]);
    if (amount && counter == Counter::duration_seconds && point.timing) {
        amount->low = point.timing->low_seconds;
        amount->high = point.timing->high_seconds;
    }
    return amount;
}

Differ differ(const Amount& a, const Amount& b, double tolerance) {
    const auto& [smaller, larger] = a.middle < b.middle ? std::tie(a, b) : std::tie(b, a);
    const double least = std::min(std::abs(a.middle), std::abs(b.middle));
    if (larger.middle - smaller.middle <= tolerance * least) return Differ::no;
    if (smaller.high < larger.low) return Differ::surely;
    return smaller.high < larger.middle ? Differ::likely : Differ::perhaps;
}

Ranked ranked(const std::vector<Amount>& amounts, bool is_more_better, double tolerance) {
    Ranked all;
    all.order.resize(amounts.size());
    std::iota(all.order.begin(), all.order.end(), std::size_t{0});
    std::ranges::sort(all.order, [&](std::size_t a, std::size_t b) {
        const double first = amounts[a].middle;
        const double second = amounts[b].middle;
        return first != second ? (first > second) == is_more_better : a < b;
    });
    if (amounts.empty()) return all;
    const Amount& best = amounts[all.order.front()];
    const double worst = amounts[all.order.back()].middle;
    for (std::size_t i = 0; i < amounts.size(); ++i)
        if (differ(amounts[i], best, tolerance) != Differ::surely) all.best.push_back(i);
    all.worst = static_cast<std::size_t>(std::ranges::find(amounts, worst, &Amount::middle) -
                                         amounts.begin());
    if (best.middle != worst) all.gain = is_more_better ? best.middle / worst : worst / best.middle;
    return all;
}

double noise_of(Counter counter, bool is_measured) {
    const Unit unit = info(counter).unit;
    const bool is_time = unit == Unit::second || unit == Unit::byte_per_second ||
                         counter == Counter::bandwidth_share;
    if (!is_time) return noise_of_rounding;
    return is_measured ? noise_of_measured_times : noise_of_predicted_times;
}

}  // namespace coalprof
