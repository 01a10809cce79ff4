#include "core/write/table_facts.h"

#include <algorithm>
#include <cmath>

namespace coalprof {
namespace {

bool are_close(const Reading& a, const Reading& b, double tolerance) {
    if (a == b) return true;
    if (!is_finite_number(a) || !is_finite_number(b)) return false;
    const double larger = std::max(std::abs(number_in(a)), std::abs(number_in(b)));
    return std::abs(number_in(a) - number_in(b)) <= tolerance * larger;
}

// Equal for a reader: derived ratios may differ in their last bit.
bool are_equal(const Reading& a, const Reading& b) { return are_close(a, b, 1e-12); }

// Equal as printed: a rate changes in its sixth digit with every sector at an edge.
bool look_equal(const TableItem& item, const Reading& a, const Reading& b) {
    const bool is_rate = info(item.counters.front()).unit == Unit::byte_per_second;
    return is_rate ? are_close(a, b, 1e-4) : a == b;
}

// Of estimates three digits are printed.
bool predictions_look_equal(const TableItem& item, const Point& a, const Point& b) {
    const bool is_estimate = interval_of(item, a) != nullptr;
    if (is_estimate != (interval_of(item, b) != nullptr)) return false;
    const Reading& of_a = predicted_reading(item, a);
    const Reading& of_b = predicted_reading(item, b);
    return is_estimate ? are_close(of_a, of_b, 1e-3) : look_equal(item, of_a, of_b);
}

// Where there is a measurement, nobody needs an estimate beside it, but for what a launch comes to
// in the end.
bool gives_way(const TableItem& item, const Point& point) {
    return item.counters.front() != Counter::bandwidth_bytes_per_second &&
           is_finite_number(measured_reading(item, point)) && interval_of(item, point);
}

// How often the points have what.
struct Counts {
    std::size_t predictions = 0;
    std::size_t measurements = 0;
    std::size_t gaps = 0;            // neither, but a reason why there is no prediction
    std::size_t differences = 0;     // of points that did not fail: the two are not equal,
    std::size_t contradictions = 0;  //   both are numbers,
    std::size_t unmeasured = 0;      //   there is no measurement
};

Counts count(const TableItem& item, const std::vector<Point>& points) {
    Counts counts;
    for (const Point& point : points) {
        const Reading& predicted = predicted_reading(item, point);
        const Reading& measured = measured_reading(item, point);
        const bool has_prediction = is_finite_number(predicted) && !gives_way(item, point);
        const bool has_measurement = is_finite_number(measured);
        counts.predictions += has_prediction;
        counts.measurements += has_measurement;
        counts.gaps += !has_measurement && !has_prediction && is_present(predicted);
        if (!point.failure.empty()) continue;
        counts.differences += gives_way(item, point);
        if (gives_way(item, point) || are_equal(predicted, measured)) continue;
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

// Warps of one request each: sectors per request says what sectors says.
bool repeats_sectors(const TableItem& item, const std::vector<Point>& points) {
    if (!is_sectors_per_request(item)) return false;
    return std::all_of(points.begin(), points.end(), [](const Point& point) {
        return std::none_of(access_kinds.begin(), access_kinds.end(), [&](AccessKind kind) {
            const Reading& requests = point.predicted[access_counter(kind, AccessField::requests)];
            return is_finite_number(requests) && number_in(requests) > 1;
        });
    });
}

ItemFacts facts_of(TableItem item, const std::vector<Point>& points) {
    const auto succeeded = std::find_if(points.begin(), points.end(),
                                        [](const Point& point) { return point.failure.empty(); });
    const Point& first = succeeded == points.end() ? points.front() : *succeeded;
    const Reading& prediction = predicted_reading(item, first);
    const Reading& measurement = measured_reading(item, first);
    const auto is_predicted_alike = [&](const Point& point) {
        return predictions_look_equal(item, point, first);
    };
    // Of a point that failed nothing is expected but its prediction.
    const auto is_measured_alike = [&](const Point& point) {
        return !point.failure.empty() ||
               look_equal(item, measured_reading(item, point), measurement);
    };
    const Counts counts = count(item, points);
    const Relation relation = relation_of(counts);
    const bool has_alike_predictions =
        points.size() > 1 && std::all_of(points.begin(), points.end(), is_predicted_alike);
    const bool is_constant = has_alike_predictions && relation != Relation::none &&
                             std::all_of(points.begin(), points.end(), is_measured_alike);
    const bool is_minor = 2 * counts.gaps > points.size() || repeats_sectors(item, points);
    const bool is_estimate = interval_of(item, first) != nullptr;
    return {.item = std::move(item),
            .relation = relation,
            .is_constant = is_constant,
            .is_prediction_constant = has_alike_predictions && !is_constant &&
                                      relation == Relation::differing &&
                                      is_finite_number(prediction),
            .is_minor = is_minor,
            .is_estimate = is_estimate,
            .prediction = prediction,
            .measurement = measurement};
}

}  // namespace

bool is_finite_number(const Reading& reading) {
    return is_number(reading) && std::isfinite(number_in(reading));
}

std::vector<ItemFacts> facts_of(std::vector<TableItem> items, const std::vector<Point>& points) {
    std::vector<ItemFacts> facts;
    for (TableItem& item : items) facts.push_back(facts_of(std::move(item), points));
    return facts;
}

}  // namespace coalprof
