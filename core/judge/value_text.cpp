#include "core/judge/value_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/write/number_text.h"

namespace coalprof {
namespace {

// Files may hold values that no counter can have: below 0.
std::string digits_of(const NumberStyle& style, double value) {
    return value >= 0 && value <= 1e300 ? number_text(value, style) : fmt::format("{:g}", value);
}

std::string with_unit(const NumberStyle& style, double value) {
    const std::string digits = digits_of(style, value);
    return style.unit.empty() ? digits : fmt::format("{} {}", digits, style.unit);
}

NumberStyle style_of(Counter counter, std::initializer_list<double> values) {
    // A change of a few bytes must be visible.
    if (info(counter).unit == Unit::byte && info(counter).is_integer) return {1, 0, "bytes"};
    return style_for(info(counter), values, true);
}

}  // namespace

std::string value_text(Counter counter, double value) {
    return with_unit(style_of(counter, {value}), value);
}

std::string change_text(Counter counter, double before, double now) {
    const NumberStyle style = style_of(counter, {before, now});
    const std::string change =
        before > 0 ? fmt::format(" ({:+.3g} %)", 100 * (now / before - 1)) : std::string();
    return fmt::format("{} {} -> {}{}", key_of(counter), digits_of(style, before),
                       with_unit(style, now), change);
}

}  // namespace coalprof
