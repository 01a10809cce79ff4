#include "core/pattern/axis.h"

#include <algorithm>

namespace coalprof {

std::uint64_t count_of(const std::vector<Axis>& axes) {
    std::uint64_t count = 1;
    for (const Axis& axis : axes)
        if (__builtin_mul_overflow(count, axis.values.size(), &count)) return ~0ull;
    return count;
}

void choose(const std::vector<Axis>& axes, std::uint64_t number, ChosenLaunch& choice,
            NamedValues& parameters) {
    std::uint64_t left = count_of(axes);
    for (const Axis& axis : axes) {
        left /= axis.values.size();
        const AxisValue& value = axis.values[number / left % axis.values.size()];
        value.choose(choice);
        parameters.emplace_back(axis.key, value.shown);
        parameters.insert(parameters.end(), value.also.begin(), value.also.end());
    }
}

bool has_axis(const std::vector<Axis>& axes, std::string_view key) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) {
        return axis.key == key || find_value(axis.values.front().also, key);
    });
}

}  // namespace coalprof
