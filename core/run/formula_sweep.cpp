#include "core/run/formula_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/formula/tree.h"
#include "core/run/sweep_axes.h"
#include "core/text/error.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

// Every combination of the parameters' values, the last varying fastest.
std::vector<std::vector<std::int64_t>> grid_of(const std::vector<FormulaParameter>& parameters) {
    std::uint64_t count = 1;
    for (const FormulaParameter& parameter : parameters)
        if (__builtin_mul_overflow(count, parameter.values.size(), &count)) count = ~0ull;
    if (count > most_range_points)
        throw UsageError(fmt::format("--var: {} combinations; a sweep has at most {} points", count,
                                     most_range_points));
    std::vector<std::vector<std::int64_t>> grid{{}};
    for (const FormulaParameter& parameter : parameters) {
        std::vector<std::vector<std::int64_t>> longer;
        for (const auto& cell : grid) {
            for (const std::uint64_t value : parameter.values) {
                if (value > static_cast<std::uint64_t>(INT64_MAX))
                    throw UsageError(fmt::format("--var {}: {} does not fit 64 signed bits",
                                                 parameter.name, value));
                auto& next = longer.emplace_back(cell);
                next.push_back(static_cast<std::int64_t>(value));
            }
        }
        grid = std::move(longer);
    }
    return grid;
}

}  // namespace

std::vector<PlannedPoint> expand(const FormulaSweep& sweep) {
    std::vector<std::string> names;
    for (const FormulaParameter& parameter : sweep.parameters) names.push_back(parameter.name);
    const auto formula = std::make_shared<const ParsedFormula>(parse_formula(sweep.text, names));
    const Sweep& settings = sweep.settings;
    const auto grid = grid_of(sweep.parameters);
    require_reasonable_count(settings, grid.size());

    std::vector<PlannedPoint> points;
    for (const auto& cell : grid) {
        FormulaLaunch launch{.op = settings.op.value_or(Op::load),
                             .type = settings.type,
                             .shape = settings.shape,
                             .block_x = sweep.block_x,
                             .values = cell};
        const Program program = make_formula_program(formula, launch);
        each_setting(settings, [&](const Machine& machine, const SweptSettings& swept) {
            PlannedPoint& point = points.emplace_back();
            point.plan.pattern = "formula";
            point.plan.op = launch.op;
            point.plan.type = launch.type;
            point.plan.shape = launch.shape;
            point.plan.program = program;
            if (!sweep.name.empty()) point.parameters.emplace_back("formula", sweep.name);
            for (std::size_t i = 0; i < cell.size(); ++i)
                point.parameters.emplace_back(names[i], cell[i]);
            finish_point(point, settings, machine, swept);
            if (point.name.empty()) point.name = "formula";
        });
    }
    return points;
}

NamedValues describe_sweep(const FormulaSweep& sweep) {
    const Sweep& settings = sweep.settings;
    NamedValues values{
        {"pattern", std::string("formula")},
        {"formula", sweep.text},
        {"op", std::string(name_of(settings.op.value_or(Op::load)))},
        {"type", std::string(name_of(settings.type))},
        {"size_bytes", static_cast<std::int64_t>(settings.shape.size_bytes)},
        {"block", std::int64_t{settings.shape.block}},
        {"per_thread", std::int64_t{settings.shape.per_thread}},
    };
    add_single_settings(values, settings);
    return values;
}

}  // namespace coalprof
