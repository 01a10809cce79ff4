#include <algorithm>
#include <cmath>
#include <limits>

#include "core/write/table_layout.h"

namespace coalprof {
namespace {

bool are_close(const Reading& a, const Reading& b, double tolerance) {
    if (a == b) return true;
    if (!is_finite_number(a) || !is_finite_number(b)) return false;
    const double larger = std::max(std::abs(number_in(a)), std::abs(number_in(b)));
    return std::abs(number_in(a) - number_in(b)) <= tolerance * larger;
}

// Equal as printed: a rate changes in its sixth digit with every sector at an edge.
bool look_equal(const TableItem& item, const Reading& a, const Reading& b) {
    const bool is_rate = item.format().unit == Unit::byte_per_second;
    return is_rate ? are_close(a, b, 1e-4) : a == b;
}

// Three digits of an estimate are printed.
bool predictions_look_equal(const TableItem& item, const Point& a, const Point& b) {
    const bool is_estimate = item.interval(a) != nullptr;
    if (is_estimate != (item.interval(b) != nullptr)) return false;
    const Reading of_a = item.predicted(a);
    const Reading of_b = item.predicted(b);
    return is_estimate ? are_close(of_a, of_b, 1e-3) : look_equal(item, of_a, of_b);
}

// A measurement makes an estimate beside it superfluous, except for a launch's final results.
bool gives_way(const TableItem& item, const Point& point) {
    return !item.is(Counter::bandwidth_bytes_per_second) &&
           is_finite_number(item.measured(point)) && item.interval(point);
}

// The number of points with each kind of value.
struct Counts {
    std::size_t predictions = 0;
    std::size_t measurements = 0;
    std::size_t gaps = 0;            // neither, but a reason for the missing prediction
    std::size_t differences = 0;     // of points that did not fail: the two are not equal,
    std::size_t contradictions = 0;  //   both are numbers,
    std::size_t unmeasured = 0;      //   there is no measurement
};

Counts count(const TableItem& item, const std::vector<Point>& points) {
    Counts counts;
    for (const Point& point : points) {
        const Reading predicted = item.predicted(point);
        const Reading measured = item.measured(point);
        const bool has_prediction = is_finite_number(predicted) && !gives_way(item, point);
        const bool has_measurement = is_finite_number(measured);
        counts.predictions += has_prediction;
        counts.measurements += has_measurement;
        counts.gaps += !has_measurement && !has_prediction && is_present(predicted);
        if (!point.failure.empty()) continue;
        counts.differences += gives_way(item, point);
        // Equal for a reader: derived ratios may differ in their last bit.
        if (gives_way(item, point) || are_close(predicted, measured, 1e-12)) continue;
        ++counts.differences;
        counts.contradictions += has_prediction && has_measurement;
        counts.unmeasured += !has_measurement;
    }
    return counts;
}

Relation relation_of(const Counts& counts) {
    if (counts.predictions + counts.measurements == 0) return Relation::none;
    if (counts.measurements == 0) return Relation::predicted;
    if (counts.predictions == 0) return Relation::measured;
    if (counts.differences == 0) return Relation::agreed;
    return counts.contradictions + counts.unmeasured == 0 ? Relation::measured
                                                          : Relation::differing;
}

// Estimates that differ by less than their doubt are equal, unless a reader sees which is smaller:
// similar launches have similar errors, so their order is often right.
bool varies_within_doubt(const TableItem& item, const std::vector<Point>& points) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    double low = -infinite, high = infinite;    // ends of all intervals
    double least = infinite, most = -infinite;  // ends of the estimates
    for (const Point& point : points) {
        const Interval* interval = item.interval(point);
        const Reading predicted = item.predicted(point);
        if (!interval || !is_finite_number(predicted)) return false;
        low = std::max(low, interval->low);
        high = std::min(high, interval->high);
        least = std::min(least, number_in(predicted));
        most = std::max(most, number_in(predicted));
    }
    return points.size() > 1 && low <= high && most - least <= visible_difference * most;
}

}  // namespace

ItemFacts facts_of(TableItem item, const std::vector<Point>& points) {
    const auto succeeded = std::find_if(points.begin(), points.end(),
                                        [](const Point& point) { return point.failure.empty(); });
    const Point& first = succeeded == points.end() ? points.front() : *succeeded;
    const Reading prediction = item.predicted(first);
    const Reading measurement = item.measured(first);
    const auto has_this_prediction = [&](const Point& point) {
        return predictions_look_equal(item, point, first);
    };
    // A failed point has only its prediction.
    const auto has_this_measurement = [&](const Point& point) {
        return !point.failure.empty() || look_equal(item, item.measured(point), measurement);
    };
    const Counts counts = count(item, points);
    const Relation relation = relation_of(counts);
    const bool are_predictions_equal =
        points.size() > 1 && std::all_of(points.begin(), points.end(), has_this_prediction);
    const bool is_constant = are_predictions_equal && relation != Relation::none &&
                             std::all_of(points.begin(), points.end(), has_this_measurement);
    const bool is_minor = 2 * counts.gaps > points.size();
    const bool is_estimate = item.interval(first) != nullptr;
    const bool is_doubtful = relation == Relation::predicted && varies_within_doubt(item, points);
    return {.item = std::move(item),
            .relation = relation,
            .is_constant = is_constant,
            .is_prediction_constant = are_predictions_equal && !is_constant &&
                                      relation == Relation::differing &&
                                      is_finite_number(prediction),
            .is_minor = is_minor,
            .is_doubtful = is_doubtful,
            .is_estimate = is_estimate,
            .prediction = prediction,
            .measurement = measurement};
}

}  // namespace coalprof
