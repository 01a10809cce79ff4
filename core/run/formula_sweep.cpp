#include "core/run/formula_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/formula/tree.h"
#include "core/result/counter.h"
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
            for (const std::int64_t value : parameter.values)
                longer.emplace_back(cell).push_back(value);
        }
        grid = std::move(longer);
    }
    return grid;
}

// Of one formula. The keys stand beside each other in a result: none may come twice.
void require_own_names(const FormulaSweep& sweep) {
    constexpr std::array<std::string_view, 19> settings{
        "pattern", "name",       "formula", "op",     "type",   "size_bytes", "block",
        "block_x", "per_thread", "machine", "dlcm",   "dscm",   "carveout",   "l2_fetch",
        "alloc",   "path",       "device",  "l1_kib", "failure"};
    const auto& parameters = sweep.parameters;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const std::string& name = parameters[k].name;
        if (find_counter(name))
            throw UsageError(fmt::format("--var {}: a counter has this name", name), {},
                             UsageError::no_caret, fmt::format("call it {}_, for instance", name));
        if (std::find(settings.begin(), settings.end(), name) != settings.end())
            throw UsageError(fmt::format("--var {}: a setting of the sweep has this name", name),
                             {}, UsageError::no_caret,
                             fmt::format("call it {}_, for instance", name));
        for (std::size_t other = 0; other < k; ++other)
            if (parameters[other].name == name)
                throw UsageError(fmt::format("--var {}: given twice", name), {},
                                 UsageError::no_caret,
                                 fmt::format("several values go together: --var {}=1,2,4", name));
    }
}

void require_that_all_occur(const ParsedFormula& formula) {
    for (std::size_t k = 0; k < formula.parameters.size(); ++k)
        if (!formula.uses_parameter[k])
            throw UsageError(fmt::format("--var {}: the formula has no '{}'", formula.parameters[k],
                                         formula.parameters[k]),
                             formula.text, UsageError::no_caret,
                             "every point would be the same: leave it out");
}

std::vector<PlannedPoint> points_of(const FormulaSweep& sweep) {
    require_own_names(sweep);
    std::vector<std::string> names;
    for (const FormulaParameter& parameter : sweep.parameters) names.push_back(parameter.name);
    const auto formula = std::make_shared<const ParsedFormula>(parse_formula(sweep.text, names));
    require_that_all_occur(*formula);
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
            require_walkable(point.plan);
            if (!sweep.name.empty()) point.parameters.emplace_back("formula", sweep.name);
            for (std::size_t i = 0; i < cell.size(); ++i)
                point.parameters.emplace_back(names[i], cell[i]);
            finish_point(point, settings, machine, swept);
            if (point.name.empty()) point.name = "formula";
        });
    }
    return points;
}

bool has_rows(const FormulaSweep& sweep) { return sweep.block_x != 0; }

// What every formula has, each in its own way. A block's width goes without saying where blocks
// have one dimension.
NamedValues own_settings(const FormulaSweep& sweep, bool with_block_x) {
    const LaunchShape& shape = sweep.settings.shape;
    NamedValues values{
        {"op", std::string(name_of(sweep.settings.op.value_or(Op::load)))},
        {"type", std::string(name_of(sweep.settings.type))},
        {"size_bytes", static_cast<std::int64_t>(shape.size_bytes)},
        {"block", std::int64_t{shape.block}},
        {"per_thread", std::int64_t{shape.per_thread}},
    };
    if (with_block_x)
        values.emplace_back("block_x", std::int64_t{has_rows(sweep) ? sweep.block_x : shape.block});
    return values;
}

// The settings of each formula of a set, and which of them all have alike.
struct SetSettings {
    std::vector<NamedValues> of_each;
    std::vector<bool> are_shared;
};
SetSettings settings_of(const std::vector<FormulaSweep>& set) {
    const bool with_block_x = std::any_of(set.begin(), set.end(), has_rows);
    SetSettings settings;
    for (const FormulaSweep& sweep : set)
        settings.of_each.push_back(own_settings(sweep, with_block_x));
    const NamedValues& first = settings.of_each.front();
    for (std::size_t k = 0; k < first.size(); ++k)
        settings.are_shared.push_back(
            std::all_of(settings.of_each.begin(), settings.of_each.end(),
                        [&](const NamedValues& own) { return own[k] == first[k]; }));
    return settings;
}

// Counters are read with these in mind: where formulas differ in them, each point tells its own.
bool belongs_to_points(std::string_view setting) { return setting == "op" || setting == "type"; }

}  // namespace

std::vector<PlannedPoint> expand(const FormulaSweep& sweep) {
    if (!sweep.place.is_in_file()) return points_of(sweep);
    try {
        return points_of(sweep);
    } catch (const UsageError& error) {
        throw sweep.place.located(error, sweep.text);
    }
}

std::vector<PlannedPoint> expand(const std::vector<FormulaSweep>& set) {
    const SetSettings settings = settings_of(set);
    std::vector<PlannedPoint> points;
    for (std::size_t i = 0; i < set.size(); ++i) {
        for (PlannedPoint& point : expand(set[i])) {
            for (std::size_t k = 0; k < settings.are_shared.size(); ++k)
                if (const auto& own = settings.of_each[i][k];
                    !settings.are_shared[k] && belongs_to_points(own.first))
                    point.parameters.push_back(own);
            points.push_back(std::move(point));
        }
        if (points.size() > most_range_points)
            throw UsageError(
                fmt::format("more than {} points, which is the most that a sweep has: use fewer "
                            "formulas or values",
                            most_range_points));
    }
    return points;
}

NamedValues describe_sweep(const FormulaSweep& sweep) {
    NamedValues values{{"pattern", std::string("formula")}, {"formula", sweep.text}};
    for (NamedValues::value_type& setting : own_settings(sweep, has_rows(sweep)))
        values.push_back(std::move(setting));
    add_single_settings(values, sweep.settings);
    return values;
}

NamedValues describe_sweep(const std::vector<FormulaSweep>& set, const std::string& file) {
    NamedValues values{{"pattern", std::string("formula")}, {"file", file}};
    const SetSettings settings = settings_of(set);
    for (std::size_t k = 0; k < settings.are_shared.size(); ++k)
        if (settings.are_shared[k]) values.push_back(settings.of_each.front()[k]);
    add_single_settings(values, set.front().settings);
    for (std::size_t i = 0; i < set.size(); ++i) {
        values.emplace_back("formula." + set[i].name, set[i].text);
        for (std::size_t k = 0; k < settings.are_shared.size(); ++k)
            if (const auto& [key, value] = settings.of_each[i][k];
                !settings.are_shared[k] && !belongs_to_points(key))
                values.emplace_back(fmt::format("{}.{}", key, set[i].name), value);
    }
    return values;
}

}  // namespace coalprof
