// Results gathered column by column, for formats that show a counter of all points together:
// openmetrics, svg, html. A column exists if some point has the counter.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// More points make no readable picture, and a page that no browser opens.
inline constexpr std::size_t most_gathered_points = 200'000;

struct ResultColumn {
    Counter counter = Counter::load_requests;
    bool is_measured = false;
    std::vector<double> values;  // of the points, NaN: none
    // The spread of a time, or the interval of an estimate; empty if no point has one.
    std::vector<double> low = {};
    std::vector<double> high = {};
};

struct ResultColumns {
    ResultHead head;
    ResultTail tail;
    std::vector<std::string> names;  // of the points
    struct Parameter {
        std::string key;
        std::vector<Value> values;  // of the points
    };
    std::vector<Parameter> parameters;
    std::vector<ResultColumn> columns;  // in the order of the counters, predicted before measured
    std::vector<std::size_t> failed;    // points

    const ResultColumn* find(Counter counter, bool is_measured) const;
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
    void finish(const ResultTail& tail);
    const std::vector<ResultColumns>& results() const { return results_; }

 private:
    ResultColumn& column(Counter counter, bool is_measured);
    void add(const Readings& readings, bool is_measured);

    std::vector<ResultColumns> results_;
    std::size_t points_ = 0;  // of all results
};

// A result in a few words: "offset, rmw, f32 on NVIDIA H200".
std::string label_of(const ResultHead& head);

}  // namespace coalprof
