#include "core/text/units.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string_view>

#include "fmt/format.h"

namespace coalprof {
namespace {

constexpr int significant_digits = 4;

struct Step {
    double factor;
    std::string_view unit;
};
constexpr std::array byte_steps{Step{1, "bytes"}, Step{0x1p10, "KiB"}, Step{0x1p20, "MiB"},
                                Step{0x1p30, "GiB"}, Step{0x1p40, "TiB"}};
constexpr std::array second_steps{Step{1e-9, "ns"}, Step{1e-6, "us"}, Step{1e-3, "ms"},
                                  Step{1, "s"}};

// So many behind the point that four digits are shown, and all that stand in front of it.
int decimals_of(double value) {
    assert(std::isfinite(value));
    const double size = std::abs(value);
    const int before_point = size == 0 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
    return std::max(0, significant_digits - before_point);
}

// 4529, 45.29, 0.04529, 1.5.
std::string significant(double value) {
    std::string text = fmt::format("{:.{}f}", value, decimals_of(value));
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

// In the largest unit that leaves at least 1, as printed: 1023.99 KiB is "1 MiB" and not
// "1024 KiB".
template <std::size_t count>
std::string scaled(double value, const std::array<Step, count>& rising) {
    std::size_t i = 0;
    for (; i + 1 < count; ++i) {
        const double here = value / rising[i].factor;
        const double digit = std::pow(10, -decimals_of(here));
        if (std::round(here / digit) * digit < rising[i + 1].factor / rising[i].factor) break;
    }
    return fmt::format("{} {}", significant(value / rising[i].factor), rising[i].unit);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
    if (bytes == 1) return "1 byte";
    return scaled(static_cast<double>(bytes), byte_steps);
}

std::string bandwidth_text(double bytes_per_second) {
    return significant(bytes_per_second / 1e9) + " GB/s";
}

std::string seconds_text(double seconds) { return scaled(seconds, second_steps); }

std::string percent_text(double ratio, int decimals) {
    assert(std::isfinite(ratio));
    return fmt::format("{:.{}f} %", ratio * 100, decimals);
}

std::string count_text(std::uint64_t count, Grouping grouping) {
    const std::string digits = fmt::format("{}", count);
    if (grouping == Grouping::plain) return digits;
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

}  // namespace coalprof
