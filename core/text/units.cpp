#include "core/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace coalprof {

namespace {

// Decimals such that four digits are shown, and all digits of the whole part.
int decimals_of(double value) {
    constexpr int significant_digits = 4;
    const int before_point = value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
    return std::max(0, significant_digits - before_point);
}

// 4529, 45.29, 1.5.
std::string significant(double value) {
    std::string text = fmt::format("{:.{}f}", value, decimals_of(value));
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace

const UnitStep& step_of(std::span<const UnitStep> rising, double value) {
    std::size_t i = 0;
    while (i + 1 < rising.size() && value >= rising[i + 1].factor) ++i;
    return rising[i];
}

std::string grouped(std::uint64_t value) {
    const fmt::format_int digits(value);
    std::string text(digits.data(), digits.size());
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string counted(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string size_text(std::uint64_t bytes) {
    const UnitStep& step = step_of(byte_steps, static_cast<double>(bytes));
    const auto factor = static_cast<std::uint64_t>(step.factor);
    const bool is_whole = bytes % factor == 0;
    return fmt::format("{} {}", grouped(is_whole ? bytes / factor : bytes),
                       (is_whole ? step : byte_steps.front()).unit);
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes == 1) return "1 byte";
    // In the largest unit in which the printed number is at least 1: 1023.99 KiB is "1 MiB" and not
    // "1024 KiB".
    std::size_t i = 0;
    for (; i + 1 < byte_steps.size(); ++i) {
        const double here = static_cast<double>(bytes) / byte_steps[i].factor;
        const double digit = std::pow(10, -decimals_of(here));
        if (std::round(here / digit) * digit < byte_steps[i + 1].factor / byte_steps[i].factor)
            break;
    }
    return fmt::format("{} {}", significant(static_cast<double>(bytes) / byte_steps[i].factor),
                       byte_steps[i].unit);
}

std::optional<std::int64_t> seconds_since_1970(const std::string& utc) {
    std::tm parts{};
    const char* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end != '\0') return std::nullopt;
    return ::timegm(&parts);
}

}  // namespace coalprof
