// A result as a typed table, cell by cell for formats that stream; and results gathered column by
// column, for formats that show a counter of all points together: openmetrics, svg, html.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// More points make no readable picture, and a page that no browser opens.
inline constexpr std::size_t most_gathered_points = 200'000;

struct ResultColumn {
    Counter counter = Counter::load_requests;
    bool is_measured = false;
    std::vector<double> values;  // one value for each point, NaN: none
    // The spread of a time, or the interval of an estimate; empty if no point has one.
    std::vector<double> low = {};
    std::vector<double> high = {};
};

struct ResultColumns {
    ResultHead head;
    ResultTail tail;
    std::vector<std::string> names;  // one name for each point
    struct Parameter {
        std::string key;
        std::vector<Value> values;  // one value for each point
    };
    std::vector<Parameter> parameters;
    std::vector<ResultColumn> columns;  // ordered like the counters, predicted before measured
    std::vector<std::size_t> failed;    // points

    const ResultColumn* find(Counter counter, bool is_measured) const;
    const Parameter* find(std::string_view key) const;
    // Parameters with more than one value.
    std::vector<const Parameter*> varying() const;
    // The parameters besides `along` (empty: all) that distinguish points: none that follows from
    // others, such as the pitch of a variant's tile.
    std::vector<const Parameter*> distinguishing(std::string_view along) const;
};

// Gathers one result or several, one after the other: each begin() begins another. Throws Error
// (ExitCode::output) where there are too many points.
class ResultGatherer {
 public:
    void begin(const ResultHead& head);
    void point(const Point& point);
    void end_of_part(const ResultTail& tail) { results_.back().tail = tail; }
    void finish(const ResultTail& tail);
    const std::vector<ResultColumns>& results() const { return results_; }

 private:
    ResultColumn& column(Counter counter, bool is_measured);
    void add(const Readings& readings, bool is_measured);

    std::vector<ResultColumns> results_;
    std::size_t points_ = 0;  // points of all results
};

// A result in a few words: "offset, rmw, f32 on NVIDIA H200".
std::string label_of(const ResultHead& head);

// Points considered before the columns of a format are settled, and held back until then: later
// points have the same counters, and a file of mixed warps shows all of its instructions early.
inline constexpr std::size_t settling_points = 1000;

// The set of existing counters.
class SeenCounters {
 public:
    void add(Counter counter) { seen_[static_cast<std::size_t>(counter)] = true; }
    void add(const Readings& readings) {
        readings.each([this](Counter counter, const Reading&) { add(counter); });
    }
    bool has(Counter counter) const { return seen_[static_cast<std::size_t>(counter)]; }
    std::vector<Counter> in_output_order() const;

 private:
    std::array<bool, counter_count> seen_{};
};

// The keys of the points' parameters, in order of appearance.
std::vector<std::string> parameter_keys(const std::vector<Point>& points);

// True for a parameter that says the same as another one and does not distinguish points: a size
// does where there is a grid.
bool follows_from_others(std::string_view key, bool has_grid);

// The parameter's value if it is a whole number from 0 on.
std::optional<std::uint64_t> natural_number(const Value& value);

// A column of the typed table that a result is: its key, and the cell of each point, which is
// nothing where the point has no such value.
struct FrameColumn {
    std::string key;  // "load_sectors", "measured_load_sectors"
    std::function<Value(const Point&)> cell;
};

// What was run, predictions, their intervals, measurements, their spread, the failure: of the
// counters of these points, or of those that head.columns lists. The head must live as long.
std::vector<FrameColumn> frame_of(const ResultHead& head, const std::vector<Point>& points);

}  // namespace coalprof
