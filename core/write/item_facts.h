// Facts about an item over all points of a table: do prediction and measurement agree, is it the
// same everywhere? They decide where the item is shown.
#pragma once

#include <cstdint>
#include <vector>

#include "core/write/table_items.h"

namespace coalprof {

enum class Relation : std::uint8_t {
    none,       // no number in any point
    predicted,  // only predicted
    measured,   // measured; existing predictions agree, but some are missing
    agreed,     // both, equal in every point that did not fail
    differing,  // both
};

// Estimates of several rows that differ by more, as a share, are shown each in its row.
inline constexpr double visible_difference = 0.02;

struct ItemFacts {
    TableItem item;
    Relation relation = Relation::none;
    bool is_constant = false;             // the same in every point, of which there are several
    bool is_prediction_constant = false;  // only it; measurements differ from it
    bool is_minor = false;     // hardly worth a column: n/a in most points, or given by another
    bool is_doubtful = false;  // estimates that hardly differ, and by less than their doubt
    bool is_estimate = false;  // the prediction below
    Reading prediction = {};   // of the first point that did not fail; of all, if constant
    Reading measurement = {};
};

// At least one point.
ItemFacts facts_of(TableItem item, const std::vector<Point>& points);

}  // namespace coalprof
