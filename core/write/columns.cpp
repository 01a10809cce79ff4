#include "core/write/columns.h"

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

using Seen = std::array<bool, counter_count>;

void look_at(const Readings& readings, Seen& seen) {
    readings.each(
        [&](Counter counter, const Reading&) { seen[static_cast<std::size_t>(counter)] = true; });
}

std::vector<Counter> in_output_order(const Seen& seen) {
    std::vector<Counter> counters;
    for (std::size_t i = 0; i < counter_count; ++i)
        if (seen[i]) counters.push_back(static_cast<Counter>(i));
    return counters;
}

}  // namespace

Columns columns_of(const ResultHead& head, const std::vector<Point>& points) {
    Columns columns;
    Seen predicted{};
    Seen measured{};
    for (const Point& point : points) {
        for (const auto& parameter : point.parameters)
            if (std::find(columns.parameters.begin(), columns.parameters.end(), parameter.first) ==
                columns.parameters.end())
                columns.parameters.push_back(parameter.first);
        look_at(point.predicted, predicted);
        if (point.measured) look_at(*point.measured, measured);
        columns.timing |= point.timing.has_value();
    }
    columns.name = std::find(columns.parameters.begin(), columns.parameters.end(), "name") ==
                   columns.parameters.end();
    columns.predicted = head.columns.empty() ? in_output_order(predicted) : head.columns;
    columns.measured = in_output_order(measured);
    if (!head.columns.empty() && head.device) columns.measured = head.columns;
    return columns;
}

const Value* find_value(const NamedValues& values, const std::string& key, std::size_t hint) {
    if (hint < values.size() && values[hint].first == key) return &values[hint].second;
    for (const auto& [name, value] : values)
        if (name == key) return &value;
    return nullptr;
}

}  // namespace coalprof
