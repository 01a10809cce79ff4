// What a table may say of one item, settled from the points that are known: whether prediction and
// measurement agree, whether it is the same everywhere. A later point may break it.
#pragma once

#include <string>
#include <vector>

#include "core/write/table_item.h"

namespace coalprof {

enum class Relation : std::uint8_t {
    none,       // no number in any point
    predicted,  // only predicted
    measured,   // measured; what prediction there is agrees, but some is missing
    agreed,     // both, equal in every point that did not fail
    differing,  // both
};

struct ItemDecision {
    TableItem item;
    Relation relation = Relation::none;
    bool is_scarce = false;              // n/a in most points
    bool is_constant = false;            // the same in every point, of which there are several
    bool is_hoisted = false;             // constant, and said once above the table
    bool is_prediction_hoisted = false;  // it alone is constant; measurements differ from it
    bool is_left_out = false;            // no room; the layout says so
    Reading first_prediction;  // of the first point that did not fail: of all, when hoisted
    Reading first_measurement;
};

std::vector<ItemDecision> decide(const std::vector<Point>& points);

// Whether the decision is true of one more point.
bool holds_for(const ItemDecision& decision, const Point& point);

const Reading& predicted_reading(const TableItem& item, const Point& point);
// Absent where the point was not measured.
const Reading& measured_reading(const TableItem& item, const Point& point);
bool is_finite_number(const Reading& reading);

}  // namespace coalprof
