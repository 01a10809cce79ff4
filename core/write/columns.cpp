#include "core/write/columns.h"

#include <algorithm>
#include <iterator>

namespace coalprof {

std::vector<Counter> SeenCounters::in_output_order() const {
    std::vector<Counter> counters;
    for (std::size_t i = 0; i < counter_count; ++i)
        if (seen_[i]) counters.push_back(static_cast<Counter>(i));
    return counters;
}

std::vector<std::string> parameter_keys(const std::vector<Point>& points) {
    std::vector<std::string> keys;
    for (const Point& point : points)
        for (const auto& [key, value] : point.parameters)
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    return keys;
}

bool follows_from_others(std::string_view key, bool has_grid) {
    return key == "l1_kib" || key == "row_elements" || key == "tile_pitch" ||
           (key == "size_bytes" && has_grid);
}

std::optional<std::uint64_t> natural_number(const Value& value) {
    if (const auto* natural = std::get_if<std::uint64_t>(&value)) return *natural;
    if (const auto* integer = std::get_if<std::int64_t>(&value); integer && *integer >= 0)
        return static_cast<std::uint64_t>(*integer);
    return std::nullopt;
}

PrintedColumns columns_of(const ResultHead& head, const std::vector<Point>& points) {
    PrintedColumns columns;
    columns.parameters = parameter_keys(points);
    SeenCounters predicted;
    SeenCounters measured;
    bool has_estimates = false;
    for (const Point& point : points) {
        predicted.add(point.predicted);
        if (point.measured) measured.add(*point.measured);
        has_estimates |= point.estimates.has_value();
        columns.limits |= point.estimates && !point.estimates->limits.empty();
        columns.timing |= point.timing.has_value();
    }
    columns.predicted = head.columns.empty() ? predicted.in_output_order() : head.columns;
    // Exactness differs from point to point; the first few decide.
    if (has_estimates)
        std::ranges::copy_if(columns.predicted, std::back_inserter(columns.estimated),
                             [](Counter counter) { return info(counter).may_be_estimated; });
    columns.measured = measured.in_output_order();
    if (!head.columns.empty() && head.device) columns.measured = head.columns;
    return columns;
}

}  // namespace coalprof
