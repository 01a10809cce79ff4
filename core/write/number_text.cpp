#include "core/write/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text/units.h"

namespace coalprof {
namespace {

constexpr int estimate_digits = 3;
constexpr std::array<double, 6> powers{1, 10, 100, 1000, 1e4, 1e5};
constexpr int most_decimals = powers.size() - 1;

constexpr std::array rate_steps{UnitStep{1, "B/s"}, UnitStep{1e3, "kB/s"}, UnitStep{1e6, "MB/s"},
                                UnitStep{1e9, "GB/s"}};

// The fewest decimals, up to `most`, that keep all digits of every number.
int decimals_for(const std::vector<double>& numbers, double divisor, int most) {
    int needed = 0;
    for (const double number : numbers)
        while (needed < most) {
            const double scaled = number / divisor * std::pow(10, needed);
            if (std::abs(scaled - std::round(scaled)) <= 1e-9 * std::max(1.0, scaled)) break;
            ++needed;
        }
    return needed;
}

// Times of several machines differ by decades: in the unit of the fastest each keeps its digits.
double sets_the_unit(Unit unit, const std::vector<double>& numbers) {
    const double largest = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
    if (unit != Unit::second) return largest;
    double smallest = largest;
    for (const double number : numbers)
        if (number > 0) smallest = std::min(smallest, number);
    return smallest;
}

// The decimals of an estimate that is printed as `shown`.
int decimals_of_estimate(double shown) {
    if (shown == 0) return estimate_digits - 1;
    const int power = static_cast<int>(std::floor(std::log10(shown)));
    return std::clamp(estimate_digits - 1 - power, 0, most_decimals);
}

double to_significant(double value, int digits) {
    if (value == 0) return 0;
    const double power = std::pow(10, digits - 1 - std::floor(std::log10(value)));
    return std::round(value * power) / power;
}

}  // namespace

void put_number(TextBuffer& out, double value, const NumberStyle& style) {
    int decimals = style.decimals;
    if (style.is_estimate) {
        value = to_significant(value, estimate_digits);
        const bool is_count = style.divisor == 1 && style.decimals == 0;
        decimals = is_count ? 0 : decimals_of_estimate(value / style.divisor);
    }
    const double power = powers[static_cast<std::size_t>(decimals)];
    const double scaled = std::round(value / style.divisor * power);
    constexpr double largest = 1e15;  // whole numbers are exact up to here
    if (scaled >= largest || (scaled == 0 && value > 0)) {
        const std::string digits = fmt::format("{:.3g}", value / style.divisor);
        return out.put(digits);
    }
    const auto whole = static_cast<std::uint64_t>(scaled);
    const auto unit = static_cast<std::uint64_t>(power);
    out.put(grouped(whole / unit));
    if (decimals == 0) return;
    out.put('.');
    for (std::uint64_t place = unit / 10; place > 0; place /= 10)
        out.put(static_cast<char>('0' + whole / place % 10));
}

std::string number_text(double value, const NumberStyle& style) {
    TextBuffer text;
    put_number(text, value, style);
    return std::string(text.view());
}

NumberStyle scale_for(Unit unit, double largest, std::string_view microseconds) {
    switch (unit) {
        case Unit::ratio: return {0.01, 1, "%"};
        case Unit::byte: {
            const UnitStep& step = step_of(byte_steps, largest);
            return {step.factor, step.factor > 1 ? 2 : 0, step.unit};
        }
        case Unit::second: {
            const std::array steps{UnitStep{1e-9, "ns"}, UnitStep{1e-6, microseconds},
                                   UnitStep{1e-3, "ms"}, UnitStep{1, "s"}};
            const UnitStep& step = step_of(steps, largest);
            return {step.factor, 2, step.unit};
        }
        case Unit::byte_per_second: {
            const UnitStep& step = step_of(rate_steps, largest);
            const double shown = largest / step.factor;
            return {step.factor, shown >= 1000 ? 0 : shown >= 100 ? 1 : 2, step.unit};
        }
        case Unit::one:
        case Unit::sector:
        case Unit::line: return {};
    }
    return {};
}

NumberStyle style_for(const CounterInfo& counter, const std::vector<double>& numbers, bool ascii) {
    const double scaled_by = sets_the_unit(counter.unit, numbers);
    const bool is_plain_ratio = !counter.is_integer && counter.unit != Unit::ratio &&
                                counter.unit != Unit::second &&
                                counter.unit != Unit::byte_per_second;
    NumberStyle number = is_plain_ratio ? NumberStyle{1, 2, {}}
                                        : scale_for(counter.unit, scaled_by, ascii ? "us" : "µs");
    const bool is_counted = counter.unit != Unit::second && counter.unit != Unit::byte_per_second;
    if (is_counted) number.decimals = decimals_for(numbers, number.divisor, number.decimals);
    return number;
}

NumberStyle estimate_style(NumberStyle style) {
    style.is_estimate = true;
    return style;
}

}  // namespace coalprof
