#include "core/write/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text/error.h"
#include "core/write/origin.h"

namespace coalprof {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

// Fills in earlier points, which had none.
void fill_up(std::vector<double>& values, std::size_t size) { values.resize(size, absent); }

void put_at_end(std::vector<double>& values, std::size_t points, double value) {
    fill_up(values, points - 1);
    values.push_back(value);
}

Value value_in(const Reading& reading) {
    if (const auto* integer = std::get_if<std::uint64_t>(&reading)) return *integer;
    if (const auto* real = std::get_if<double>(&reading)) return *real;
    return {};
}

bool has_limit(const Point& point) { return point.estimates && !point.estimates->limits.empty(); }

}  // namespace

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

std::vector<FrameColumn> frame_of(const ResultHead& head, const std::vector<Point>& points) {
    std::vector<FrameColumn> columns;
    const auto add = [&](std::string key, std::function<Value(const Point&)> cell) {
        columns.push_back({std::move(key), std::move(cell)});
    };
    SeenCounters of_points, of_measurements;
    for (const Point& point : points) {
        of_points.add(point.predicted);
        if (point.measured) of_measurements.add(*point.measured);
    }
    for (const OriginColumn& column : origin_columns(head, parameter_keys(points)))
        add(column.key, [&head, column](const Point& point) {
            const Value* own = find_value(point.parameters, column.parameter, column.place);
            const bool is_name = !own && column.key == "name";
            return is_name ? Value(point.name) : cell_of(head, column, own);
        });
    const std::vector<Counter> predicted =
        head.columns.empty() ? of_points.in_output_order() : head.columns;
    for (const Counter counter : predicted)
        add(std::string(key_of(counter)),
            [counter](const Point& point) { return value_in(point.predicted[counter]); });
    // Exactness differs from point to point; the first few decide.
    if (std::ranges::any_of(points, [](const Point& one) { return one.estimates.has_value(); }))
        for (const Counter counter : predicted)
            if (info(counter).may_be_estimated)
                for (const auto& [end, value] :
                     {std::pair{"low", &Interval::low}, std::pair{"high", &Interval::high}})
                    add(fmt::format("{}_{}", key_of(counter), end),
                        [counter, value = value](const Point& point) {
                            const Interval* interval =
                                point.estimates ? point.estimates->of(counter) : nullptr;
                            return interval ? Value(interval->*value) : Value();
                        });
    if (std::ranges::any_of(points, has_limit))
        add("limited_by", [](const Point& point) {
            return has_limit(point) ? Value(name_of(point.estimates->limits.front())) : Value();
        });
    for (const Counter counter :
         head.columns.empty() || !head.device ? of_measurements.in_output_order() : head.columns)
        add(fmt::format("measured_{}", key_of(counter)), [counter](const Point& point) {
            return point.measured ? value_in((*point.measured)[counter]) : Value();
        });
    if (std::ranges::any_of(points, [](const Point& one) { return one.timing.has_value(); }))
        for (const auto& [key, value] :
             {std::pair<const char*, Value (*)(const Timing&)>{
                  "timing_repeats", [](const Timing& one) { return Value(one.repeats); }},
              {"timing_low_seconds", [](const Timing& one) { return Value(one.low_seconds); }},
              {"timing_high_seconds", [](const Timing& one) { return Value(one.high_seconds); }}})
            add(key, [value = value](const Point& point) {
                return point.timing ? value(*point.timing) : Value();
            });
    add("failure", [](const Point& point) { return Value(point.failure); });
    return columns;
}

const ResultColumn* ResultColumns::find(Counter counter, bool is_measured) const {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& column) {
        return column.counter == counter && column.is_measured == is_measured;
    });
    return found == columns.end() ? nullptr : &*found;
}

const ResultColumns::Parameter* ResultColumns::find(std::string_view key) const {
    const auto found = std::ranges::find(parameters, key, &Parameter::key);
    return found == parameters.end() ? nullptr : &*found;
}

std::vector<const ResultColumns::Parameter*> ResultColumns::varying() const {
    std::vector<const Parameter*> list;
    for (const Parameter& parameter : parameters) {
        const auto differs = [&](const Value& value) { return value != parameter.values.front(); };
        if (std::any_of(parameter.values.begin(), parameter.values.end(), differs))
            list.push_back(&parameter);
    }
    return list;
}

std::vector<const ResultColumns::Parameter*> ResultColumns::distinguishing(
    std::string_view along) const {
    std::vector<const Parameter*> list = varying();
    std::erase_if(list, [&](const Parameter* one) { return one->key == along; });
    const auto told_apart = [&](const std::vector<const Parameter*>& by) {
        std::set<std::string> keys;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::string key;
            for (const Parameter* one : by) key += text_of(one->values[i]) + '\n';
            keys.insert(std::move(key));
        }
        return keys.size();
    };
    const std::size_t all = told_apart(list);
    for (std::size_t k = list.size(); k-- > 0 && list.size() > 1;) {
        std::vector<const Parameter*> rest = list;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
        if (told_apart(rest) == all) list = std::move(rest);
    }
    return list;
}

void ResultGatherer::begin(const ResultHead& head) {
    // A result without an end is followed by the next: its points are complete.
    results_.emplace_back().head = head;
}

ResultColumn& ResultGatherer::column(Counter counter, bool is_measured) {
    auto& columns = results_.back().columns;
    const auto place =
        std::lower_bound(columns.begin(), columns.end(), std::pair(counter, is_measured),
                         [](const ResultColumn& column, const auto& wanted) {
                             return std::pair(column.counter, column.is_measured) < wanted;
                         });
    if (place != columns.end() && place->counter == counter && place->is_measured == is_measured)
        return *place;
    return *columns.insert(
        place, ResultColumn{.counter = counter, .is_measured = is_measured, .values = {}});
}

void ResultGatherer::add(const Readings& readings, bool is_measured) {
    const std::size_t points = results_.back().names.size();
    readings.each([&](Counter counter, const Reading& reading) {
        if (!is_number(reading)) return;
        put_at_end(column(counter, is_measured).values, points, number_in(reading));
    });
}

void ResultGatherer::point(const Point& point) {
    if (++points_ > most_gathered_points)
        throw Error(fmt::format("cannot show more than {} points in one picture (jsonl and csv "
                                "hold any number)",
                                most_gathered_points),
                    ExitCode::output);
    ResultColumns& result = results_.back();
    result.names.push_back(point.name);
    const std::size_t points = result.names.size();
    for (const auto& [key, value] : point.parameters) {
        auto known = std::find_if(result.parameters.begin(), result.parameters.end(),
                                  [&](const auto& parameter) { return parameter.key == key; });
        if (known == result.parameters.end()) known = result.parameters.insert(known, {key, {}});
        known->values.resize(points - 1);
        known->values.push_back(value);
    }
    add(point.predicted, false);
    if (point.measured) add(*point.measured, true);
    if (point.timing && point.measured && is_number((*point.measured)[Counter::duration_seconds])) {
        ResultColumn& time = column(Counter::duration_seconds, true);
        put_at_end(time.low, points, point.timing->low_seconds);
        put_at_end(time.high, points, point.timing->high_seconds);
    }
    if (point.estimates)
        for (const Interval& interval : point.estimates->intervals) {
            if (!is_number(point.predicted[interval.counter])) continue;
            ResultColumn& estimated = column(interval.counter, false);
            put_at_end(estimated.low, points, interval.low);
            put_at_end(estimated.high, points, interval.high);
        }
    if (!point.failure.empty()) result.failed.push_back(points - 1);
}

void ResultGatherer::finish(const ResultTail& tail) {
    if (results_.size() == 1) results_.back().tail = tail;
    for (ResultColumns& result : results_) {
        const std::size_t points = result.names.size();
        for (auto& parameter : result.parameters) parameter.values.resize(points);
        for (ResultColumn& column : result.columns) {
            fill_up(column.values, points);
            if (!column.low.empty()) fill_up(column.low, points);
            if (!column.high.empty()) fill_up(column.high, points);
        }
    }
}

std::string label_of(const ResultHead& head) {
    const bool is_measured = head.device && !head.device->name.empty();
    const std::string& gpu = is_measured                  ? head.device->name
                             : head.machine.board.empty() ? head.machine.name
                                                          : head.machine.board;
    std::string label = head.sweep.pattern;
    if ((label == "run" || label == "kernel") && !head.sweep.file.empty())
        label += " of " + head.sweep.file;
    for (const std::string& part : {head.sweep.variant, head.sweep.op, head.sweep.type})
        if (!part.empty()) label += ", " + part;
    return gpu.empty() ? label : label + " on " + gpu;
}

}  // namespace coalprof
