#include "core/write/table_decision.h"

#include <algorithm>
#include <cmath>

namespace coalprof {
namespace {

// Equal for a reader: derived ratios may differ in their last bit.
bool are_equal(const Reading& a, const Reading& b) {
    if (a == b) return true;
    if (!is_finite_number(a) || !is_finite_number(b)) return false;
    const double larger = std::max(std::abs(number_in(a)), std::abs(number_in(b)));
    return std::abs(number_in(a) - number_in(b)) <= 1e-12 * larger;
}

void relate(ItemDecision& decision, const std::vector<Point>& points) {
    std::size_t predictions = 0;
    std::size_t measurements = 0;
    std::size_t gaps = 0;
    bool agrees = true;        // equal in every point
    bool contradicts = false;  // both there, and unequal, in some point
    bool is_measured = true;   // in every point
    for (const Point& point : points) {
        const Reading& predicted = predicted_reading(decision.item, point);
        const Reading& measured = measured_reading(decision.item, point);
        const bool has_prediction = is_finite_number(predicted);
        const bool has_measurement = is_finite_number(measured);
        predictions += has_prediction;
        measurements += has_measurement;
        gaps += !has_measurement && !has_prediction && is_present(predicted);
        if (!point.failure.empty() || are_equal(predicted, measured)) continue;
        agrees = false;
        contradicts |= has_prediction && has_measurement;
        is_measured &= has_measurement;
    }
    if (predictions + measurements == 0)
        decision.relation = Relation::none;
    else if (measurements == 0)
        decision.relation = Relation::predicted;
    else if (predictions > 0 && agrees)
        decision.relation = Relation::agreed;
    else if (predictions == 0 || (!contradicts && is_measured))
        decision.relation = Relation::measured;
    else
        decision.relation = Relation::differing;
    decision.is_scarce = 2 * gaps > points.size();
}

// Equal as printed: a predicted rate changes in its sixth digit with every sector at an edge.
bool look_equal(const TableItem& item, const Reading& a, const Reading& b) {
    if (a == b) return true;
    if (info(item.counters.front()).unit != Unit::byte_per_second) return false;
    if (!is_finite_number(a) || !is_finite_number(b)) return false;
    return std::abs(number_in(a) - number_in(b)) <= 1e-4 * std::abs(number_in(b));
}

// Of a point that failed nothing is expected but its prediction.
bool is_as_the_first(const ItemDecision& decision, const Point& point) {
    const TableItem& item = decision.item;
    return look_equal(item, predicted_reading(item, point), decision.first_prediction) &&
           (!point.failure.empty() ||
            look_equal(item, measured_reading(item, point), decision.first_measurement));
}

bool is_the_same_everywhere(const ItemDecision& decision, const std::vector<Point>& points) {
    return std::all_of(points.begin(), points.end(),
                       [&](const Point& point) { return is_as_the_first(decision, point); });
}

// Warps of one request each: sectors per request says what sectors says.
bool repeats_sectors(const ItemDecision& decision, const std::vector<Point>& points) {
    if (decision.item.phrase != "sectors/request") return false;
    return std::all_of(points.begin(), points.end(), [&](const Point& point) {
        for (const AccessKind kind : access_kinds) {
            const Reading& requests = point.predicted[access_counter(kind, AccessField::requests)];
            if (is_finite_number(requests) && number_in(requests) > 1) return false;
        }
        return true;
    });
}

}  // namespace

bool is_finite_number(const Reading& reading) {
    return is_number(reading) && std::isfinite(number_in(reading));
}

const Reading& predicted_reading(const TableItem& item, const Point& point) {
    return reading_of(item, point.predicted);
}

const Reading& measured_reading(const TableItem& item, const Point& point) {
    static const Reading absent;
    return point.measured ? reading_of(item, *point.measured) : absent;
}

std::vector<ItemDecision> decide(const std::vector<Point>& points) {
    std::vector<ItemDecision> decisions;
    const auto succeeded = std::find_if(points.begin(), points.end(),
                                        [](const Point& point) { return point.failure.empty(); });
    const Point& first = succeeded == points.end() ? points.front() : *succeeded;
    for (TableItem& item : items_of(points)) {
        ItemDecision& decision = decisions.emplace_back();
        decision.first_prediction = predicted_reading(item, first);
        decision.first_measurement = measured_reading(item, first);
        decision.item = std::move(item);
        relate(decision, points);
        constexpr int hardly_worth_a_column = 30;  // added to the importance
        if (decision.is_scarce || repeats_sectors(decision, points))
            decision.item.importance += hardly_worth_a_column;
        decision.is_constant = points.size() > 1 && decision.relation != Relation::none &&
                               is_the_same_everywhere(decision, points);
        decision.is_hoisted = decision.is_constant && !decision.item.never_hoisted;
        decision.is_prediction_hoisted =
            points.size() > 1 && !decision.is_constant &&
            decision.relation == Relation::differing &&
            is_finite_number(decision.first_prediction) &&
            std::all_of(points.begin(), points.end(), [&](const Point& point) {
                return look_equal(decision.item, predicted_reading(decision.item, point),
                                  decision.first_prediction);
            });
    }
    return decisions;
}

bool holds_for(const ItemDecision& decision, const Point& point) {
    const TableItem& item = decision.item;
    const Reading& predicted = predicted_reading(item, point);
    const Reading& measured = measured_reading(item, point);
    if (item.join == Join::alike) {
        const Counter store = item.counters.back();
        if (point.predicted[store] != predicted) return false;
        if (point.measured && (*point.measured)[store] != measured) return false;
    }
    if (decision.is_prediction_hoisted && !look_equal(item, predicted, decision.first_prediction))
        return false;
    if (decision.is_hoisted && !is_as_the_first(decision, point)) return false;
    switch (decision.relation) {
        case Relation::none:
            return !is_finite_number(predicted) && !is_finite_number(measured);
        case Relation::predicted:
            return !is_finite_number(measured);
        case Relation::measured:
            return !is_finite_number(predicted);
        case Relation::agreed:
            return !point.failure.empty() || are_equal(predicted, measured);
        case Relation::differing:
            return true;
    }
    return true;
}

}  // namespace coalprof
