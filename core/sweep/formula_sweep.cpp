#include "core/sweep/formula_sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "core/formula/tree.h"
#include "core/result/counter.h"
#include "core/text/error.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

// Programs of the first cells are kept, so that checking them for every thread of the launch is not
// repeated. A program takes some kilobytes.
constexpr std::uint64_t most_programs_kept = 1024;

// Combinations of the parameters' values.
std::uint64_t count_cells(const std::vector<FormulaParameter>& parameters) {
    std::uint64_t count = 1;
    for (const FormulaParameter& parameter : parameters)
        if (__builtin_mul_overflow(count, parameter.values.size(), &count)) count = ~0ull;
    if (count > most_range_points)
        throw UsageError(fmt::format("--var: {} combinations; a sweep has at most {} points", count,
                                     most_range_points));
    return count;
}

// The last parameter varies fastest.
std::vector<std::int64_t> values_in_cell(const std::vector<FormulaParameter>& parameters,
                                         std::uint64_t cell) {
    std::vector<std::int64_t> values(parameters.size());
    for (std::size_t k = parameters.size(); k-- > 0;) {
        const std::vector<std::int64_t>& all = parameters[k].values;
        values[k] = all[cell % all.size()];
        cell /= all.size();
    }
    return values;
}

// For one formula. The keys are side by side in a result: none may come twice.
void require_own_names(const FormulaSweep& sweep) {
    const auto& parameters = sweep.parameters;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const std::string& name = parameters[k].name;
        if (find_counter(name))
            throw UsageError(fmt::format("--var {}: a counter has this name", name),
                             fmt::format("call it {}_, for instance", name));
        if (is_taken_name(name))
            throw UsageError(fmt::format("--var {}: a setting of the sweep has this name", name),
                             fmt::format("call it {}_, for instance", name));
        for (std::size_t other = 0; other < k; ++other)
            if (parameters[other].name == name)
                throw UsageError(fmt::format("--var {}: given twice", name),
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

// Arrays are declared for all formulas of a set.
void require_that_arrays_occur(const std::vector<DeclaredArray>& arrays,
                               const std::vector<std::shared_ptr<const ParsedFormula>>& formulas) {
    std::vector<std::string_view> names;
    for (const auto& formula : formulas)
        for (const FormulaAccess& access : formula->accesses)
            if (std::ranges::find(names, access.array) == names.end())
                names.push_back(access.array);
    for (const DeclaredArray& array : arrays)
        if (std::ranges::find(names, array.name) == names.end())
            throw UsageError(
                fmt::format("--array {}: the formula has no array of this name", array.name),
                fmt::format("it accesses {}", fmt::join(names, ", ")));
}

void require_that_op_decides(const std::vector<FormulaSweep>& set,
                             const std::vector<std::shared_ptr<const ParsedFormula>>& formulas) {
    const FormulaSweep& first = set.front();
    if (!first.settings.launch.op && !has_axis(first.settings.axes, "op")) return;
    for (const auto& formula : formulas)
        for (const FormulaAccess& access : formula->accesses)
            if (!access.kind) return;
    const FormulaAccess& access = formulas.front()->accesses.front();
    throw UsageError(
        fmt::format("--op: the formula says itself what it does, {}", name_of(*access.kind)),
        formulas.front()->text, access.begin,
        "leave out --op, or have the formula start with the array: a[i]");
}

std::shared_ptr<const ParsedFormula> parsed(const FormulaSweep& sweep) {
    require_own_names(sweep);
    auto formula = std::make_shared<const ParsedFormula>(tree_of(sweep));
    require_that_all_occur(*formula);
    return formula;
}

// The op of the launch: --op, or those that the instructions name themselves, "load+shared.store".
std::string op_of(const FormulaSweep& sweep, const ParsedFormula& formula) {
    std::vector<std::string> ops;
    for (const FormulaAccess& access : formula.accesses) {
        std::string op(access.space == Space::shared ? "shared." : "");
        op += access.kind ? name_of(*access.kind)
                          : name_of(sweep.settings.launch.op.value_or(Op::load));
        if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(std::move(op));
    }
    return fmt::format("{}", fmt::join(ops, "+"));
}

// The types of the accesses, "f32x4+f64": --type, or those that they name themselves.
std::string types_of(const ParsedFormula& formula, ElementType type) {
    std::vector<std::string_view> types;
    for (const FormulaAccess& access : formula.accesses)
        if (const std::string_view own = name_of(access.type.value_or(type));
            std::ranges::find(types, own) == types.end())
            types.push_back(own);
    return fmt::format("{}", fmt::join(types, "+"));
}

// The type that --size counts: elements of --type, or of the widest access where each names its
// type.
ElementType sized_type(const ParsedFormula& formula, ElementType type) {
    std::optional<ElementType> widest;
    for (const FormulaAccess& access : formula.accesses) {
        if (!access.type) return type;
        if (!widest || bytes_of(*access.type) > bytes_of(*widest)) widest = access.type;
    }
    return widest.value_or(type);
}

// The shapes that a result of a set states: default blocks and grids are left out. Each point
// states sizes that follow from swept grids.
struct ToldShapes {
    bool blocks = false;
    bool grids = false;
    bool sizes = true;
    explicit ToldShapes(std::span<const FormulaSweep> set) {
        for (const FormulaSweep& sweep : set) {
            blocks = blocks || sweep.settings.launch.shape.block_shape;
            grids = grids || sweep.settings.launch.shape.grid;
            sizes = sizes && !size_follows_axes(sweep.settings);
        }
    }
};

void add_dimensions(NamedValues& values, std::string_view key, const Dimensions& dimensions) {
    values.emplace_back(fmt::format("{}_x", key), dimensions.x);
    values.emplace_back(fmt::format("{}_y", key), dimensions.y);
    values.emplace_back(fmt::format("{}_z", key), dimensions.z);
}

// The settings of every formula, except those that are swept.
NamedValues own_settings(const FormulaSweep& sweep, const ToldShapes& told) {
    const Sweep& settings = sweep.settings;
    const std::vector<Axis>& axes = settings.axes;
    const ParsedFormula formula = tree_of(sweep);
    const ElementType sized = sized_type(formula, settings.launch.type);
    const LaunchShape shape =
        told.sizes ? settled_shape(settings.launch.shape, sized) : settings.launch.shape;
    const std::uint64_t threads = shape.size_bytes / bytes_of(sized);
    NamedValues values{
        {"op", op_of(sweep, formula)},    {"type", types_of(formula, settings.launch.type)},
        {"size_bytes", shape.size_bytes}, {"block", shape.block},
        {"per_thread", shape.per_thread},
    };
    if (told.blocks && !has_axis(axes, "block"))
        add_dimensions(values, "block", shape.block_shape.value_or(Dimensions{shape.block}));
    if (told.grids && !grid_varies(settings))
        add_dimensions(values, "grid",
                       shape.grid.value_or(Dimensions{(threads + shape.block - 1) / shape.block}));
    std::erase_if(values, [&](const auto& value) {
        return has_axis(axes, value.first) || (value.first == "size_bytes" && !told.sizes);
    });
    return values;
}

// The settings of each formula of a set, and which of them all share.
struct SetSettings {
    std::vector<NamedValues> of_each;
    std::vector<bool> are_shared;
};
SetSettings settings_of(const std::vector<FormulaSweep>& set) {
    const ToldShapes told(set);
    SetSettings settings;
    for (const FormulaSweep& sweep : set) settings.of_each.push_back(own_settings(sweep, told));
    const NamedValues& first = settings.of_each.front();
    for (std::size_t k = 0; k < first.size(); ++k)
        settings.are_shared.push_back(
            std::all_of(settings.of_each.begin(), settings.of_each.end(),
                        [&](const NamedValues& own) { return own[k] == first[k]; }));
    return settings;
}

// Counters are read with these in mind: where formulas differ in them, they become parameters of
// points.
bool belongs_to_points(std::string_view setting) { return setting == "op" || setting == "type"; }

}  // namespace

ParsedFormula tree_of(const FormulaSweep& sweep) {
    FormulaContext context{{}, sweep.arrays};
    for (const FormulaParameter& parameter : sweep.parameters)
        context.parameters.push_back(parameter.name);
    return read_formula(sweep.text, context);
}

std::string types_of(const FormulaSweep& sweep) {
    return types_of(tree_of(sweep), sweep.settings.launch.type);
}

Program FormulaPrograms::of_cell(std::uint64_t cell, const std::function<Program()>& make) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = kept_.find(cell); known != kept_.end()) return *known->second;
    }
    Program program = make();
    const std::lock_guard lock(mutex_);
    if (kept_.size() < most_programs_kept)
        kept_.emplace(cell, std::make_shared<const Program>(program));
    return program;
}

FormulaPoints::FormulaPoints(const std::vector<FormulaSweep>& set,
                             std::shared_ptr<FormulaPrograms> programs)
    : programs_(std::move(programs)) {
    const SetSettings settings = settings_of(set);
    tells_sizes_ = !ToldShapes(set).sizes;
    std::uint64_t cells = 0;
    std::vector<std::shared_ptr<const ParsedFormula>> formulas;
    for (std::size_t i = 0; i < set.size(); ++i) {
        Member& member = members_.emplace_back();
        member.sweep = set[i];
        member.first_point = points_;
        member.first_cell = cells;
        member.formula = parsed(set[i]);
        if (!has_axis(set[i].settings.axes, "type"))
            member.sized = sized_type(*member.formula, set[i].settings.launch.type);
        const std::uint64_t count = count_cells(set[i].parameters);
        require_reasonable_count(set[i].settings, count);
        const std::uint64_t own_cells = count * count_of(set[i].settings.axes);
        formulas.push_back(member.formula);
        for (std::size_t k = 0; k < settings.are_shared.size(); ++k)
            if (const auto& own = settings.of_each[i][k];
                !settings.are_shared[k] && belongs_to_points(own.first))
                member.own.push_back(own);
        cells += own_cells;
        points_ += own_cells * count_of_settings(set[i].settings);
        if (points_ > most_range_points)
            throw UsageError(
                fmt::format("more than {} points, which is the most that a sweep has: use fewer "
                            "formulas or values",
                            most_range_points));
    }
    require_that_arrays_occur(set.front().arrays, formulas);
    require_that_op_decides(set, formulas);
}

void FormulaPoints::make(PlannedPoint& point) const {
    const auto behind = std::upper_bound(
        members_.begin(), members_.end(), point.number,
        [](std::uint64_t number, const Member& member) { return number < member.first_point; });
    make(point, *(behind - 1));
}

void FormulaPoints::make(PlannedPoint& point, const Member& member) const {
    const FormulaSweep& sweep = member.sweep;
    const std::uint64_t number = point.number - member.first_point;
    const std::uint64_t settings = count_of_settings(sweep.settings);
    const std::uint64_t cell = number / settings;
    const std::vector<Axis>& axes = sweep.settings.axes;
    const std::uint64_t combinations = count_of(axes);
    ChosenLaunch choice = sweep.settings.launch;
    NamedValues chosen;
    choose(axes, cell % combinations, choice, chosen);
    FormulaLaunch launch{.op = choice.op.value_or(Op::load),
                         .type = choice.type,
                         .sized = member.sized,
                         .shape = settled_shape(choice.shape, member.sized.value_or(choice.type)),
                         .values = values_in_cell(sweep.parameters, cell / combinations)};
    if (const auto& machines = sweep.settings.machines; machines.size() == 1)
        launch.shared_bytes_per_block = machines[0].rules->occupancy.shared_bytes_per_block;
    Plan& plan = point.plan;
    plan.pattern = "formula";
    plan.op = launch.op;
    plan.type = launch.type;
    plan.shape = launch.shape;
    plan.program = programs_->of_cell(member.first_cell + cell,
                                      [&] { return make_formula_program(member.formula, launch); });
    require_walkable(plan);
    point.parameters.clear();
    if (!sweep.name.empty()) point.parameters.emplace_back("formula", sweep.name);
    for (std::size_t k = 0; k < launch.values.size(); ++k)
        point.parameters.emplace_back(sweep.parameters[k].name, launch.values[k]);
    point.parameters.insert(point.parameters.end(), chosen.begin(), chosen.end());
    finish_point(point, sweep.settings, std::move(choice), number % settings);
    if (point.name.empty()) point.name = "formula";
    point.parameters.insert(point.parameters.end(), member.own.begin(), member.own.end());
    if (tells_sizes_) point.parameters.emplace_back("size_bytes", plan.shape.size_bytes);
}

void follow_arrays(FormulaSweep& sweep) {
    constexpr std::uint64_t most_cells = 64;
    if (sweep.arrays.empty() || !sweep.settings.axes.empty()) return;
    const auto formula = std::make_shared<const ParsedFormula>(tree_of(sweep));
    const ChosenLaunch& choice = sweep.settings.launch;
    FormulaLaunch launch{.op = choice.op.value_or(Op::load),
                         .type = choice.type,
                         .sized = sized_type(*formula, choice.type),
                         .shape = choice.shape,
                         .values = {}};
    const std::uint64_t bytes = bytes_of(launch.size_type());
    std::uint64_t threads = choice.shape.size_bytes / bytes;
    const std::uint64_t cells = count_cells(sweep.parameters);
    for (std::uint64_t cell = 0; cell < cells && cells <= most_cells; ++cell) {
        launch.values = values_in_cell(sweep.parameters, cell);
        const ThreadsWithin within = threads_within_arrays(formula, launch);
        if (within.threads >= threads) continue;
        threads = within.threads;
        sweep.settings.launch.shape.size_bytes = threads * bytes;
        sweep.note = fmt::format("{} threads, as --array decides: {}", threads,
                                 std::string_view(within.left->what()).substr(9));  // "formula: "
    }
    if (std::ranges::none_of(sweep.arrays, [&](const DeclaredArray& array) {
            std::uint64_t elements = array.extents.empty() ? 0 : 1;
            for (const std::uint64_t extent : array.extents) elements *= extent;
            return elements > threads;
        }))
        sweep.note.clear();
}

void keep_occurring(FormulaSweep& sweep, std::vector<bool>& occurs) {
    require_own_names(sweep);
    const ParsedFormula formula = tree_of(sweep);
    std::vector<FormulaParameter> kept;
    for (std::size_t k = 0; k < sweep.parameters.size(); ++k) {
        if (!formula.uses_parameter[k]) continue;
        occurs[k] = true;
        kept.push_back(std::move(sweep.parameters[k]));
    }
    sweep.parameters = std::move(kept);
}

SweepFacts describe_sweep(const FormulaSweep& sweep) {
    SweepFacts facts = sweep_from(own_settings(sweep, ToldShapes({&sweep, 1})));
    facts.pattern = "formula";
    facts.formula = sweep.text;
    if (!sweep.parameters.empty()) facts.parameter = sweep.parameters.back().name;
    facts.settings = single_settings(sweep.settings);
    return facts;
}

SweepFacts describe_sweep(const std::vector<FormulaSweep>& set) {
    const SetSettings settings = settings_of(set);
    NamedValues shared;
    for (std::size_t k = 0; k < settings.are_shared.size(); ++k)
        if (settings.are_shared[k]) shared.push_back(settings.of_each.front()[k]);
    SweepFacts facts = sweep_from(shared);
    facts.pattern = "formula";
    facts.settings = single_settings(set.front().settings);
    const auto last_of = [](const FormulaSweep& sweep) {
        return sweep.parameters.empty() ? std::string() : sweep.parameters.back().name;
    };
    if (std::all_of(set.begin(), set.end(), [&](const FormulaSweep& sweep) {
            return last_of(sweep) == last_of(set.front());
        }))
        facts.parameter = last_of(set.front());
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (set[i].name != set[i].text)
            facts.more.emplace_back("formula." + set[i].name, set[i].text);
        for (std::size_t k = 0; k < settings.are_shared.size(); ++k)
            if (const auto& [key, value] = settings.of_each[i][k];
                !settings.are_shared[k] && !belongs_to_points(key))
                facts.more.emplace_back(fmt::format("{}.{}", key, set[i].name), value);
    }
    return facts;
}

}  // namespace coalprof
