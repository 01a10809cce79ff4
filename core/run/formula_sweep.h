// A user's formula as a sweep: the values of its parameters make a grid, one plan per cell. And a
// saved set of them as one sweep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formula/formula.h"
#include "core/run/sweep.h"
#include "core/text/file_place.h"

namespace coalprof {

struct FormulaParameter {
    std::string name;
    std::vector<std::int64_t> values;
};

struct FormulaSweep {
    std::string name;  // of a formula from a file; empty: typed on the command line
    std::string text;
    TextPlace place;  // of the text; in no file: typed on the command line
    std::vector<FormulaParameter> parameters;
    std::uint32_t block_x = 0;  // width of a two-dimensional block; 0: one dimension
    // Op, type, shape, cache settings and machines; pattern, values and options are not read.
    Sweep settings;
};

// The last parameter varies fastest. Throws UsageError for what is wrong with the formula at any
// point, with a caret and the place in its file; for parameters that do not occur in it or are
// called like a setting; and for more than most_range_points points.
std::vector<PlannedPoint> expand(const FormulaSweep& sweep);
// One formula after the other. Where they differ in op or type, these are parameters of the points.
std::vector<PlannedPoint> expand(const std::vector<FormulaSweep>& set);

NamedValues describe_sweep(const FormulaSweep& sweep);
// `file` is where they were saved. The text of each is the value of "formula.NAME"; likewise
// "size_bytes.NAME", "block.NAME", ... where they differ.
NamedValues describe_sweep(const std::vector<FormulaSweep>& set, const std::string& file);

}  // namespace coalprof
