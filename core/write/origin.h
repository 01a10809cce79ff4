// What was run, as the point or its result's head says: in columns that distinguish points of
// several results in one data frame or database, and as the line above a table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/write/table_style.h"

namespace coalprof {

struct OriginColumn {
    std::string key;
    std::string parameter;  // the points' parameter that decides it
    std::size_t place = 0;  // its place among the points' parameters, if they have it
    std::string same = {};  // what points without their own have
};

// The same keys in the same order for all sweeps of a pattern, independent of options and swept
// values: "name" (of the point) first, then the head's, then the rest of `parameters`.
std::vector<OriginColumn> origin_columns(const ResultHead& head,
                                         const std::vector<std::string>& parameters);

// `own`: what a point has of column.parameter; nullptr: nothing.
Value cell_of(const ResultHead& head, const OriginColumn& column, const Value* own);

// The text of a formula that points call by its name; nullptr: none.
const Value* text_of_named_formula(const ResultHead& head, const Value& name);

std::string title_of(const ResultHead& head, const TableStyle& style);

}  // namespace coalprof
