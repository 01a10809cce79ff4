// A user's formula as a sweep: the values of its parameters make a grid, one plan per cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formula/formula.h"
#include "core/run/sweep.h"

namespace coalprof {

struct FormulaParameter {
    std::string name;
    std::vector<std::uint64_t> values;
};

struct FormulaSweep {
    std::string name;  // of a formula from a file; empty: typed on the command line
    std::string text;
    std::vector<FormulaParameter> parameters;
    std::uint32_t block_x = 0;  // width of a two-dimensional block; 0: one dimension
    // Op, type, shape, cache settings and machines; pattern, values and options are not read.
    Sweep settings;
};

// The last parameter varies fastest. Throws UsageError for what is wrong with the formula at any
// point, with a caret, and for more than most_range_points points.
std::vector<PlannedPoint> expand(const FormulaSweep& sweep);

NamedValues describe_sweep(const FormulaSweep& sweep);

}  // namespace coalprof
