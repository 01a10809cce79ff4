#include "core/run/sweep.h"

#include "core/pattern/catalog.h"
#include "core/run/sweep_axes.h"

namespace coalprof {
std::vector<PlannedPoint> expand(const Sweep& sweep) {
    require_reasonable_count(sweep, sweep.values.size());
    const PatternInfo& pattern = find_pattern(sweep.pattern);
    std::vector<PlannedPoint> points;
    const auto add_point = [&](const Machine& machine, const SweptSettings& settings,
                               std::uint64_t value) {
        PlannedPoint& point = points.emplace_back();
        Plan& plan = point.plan;
        plan.pattern = sweep.pattern;
        plan.value = value;
        plan.op = sweep.op.value_or(pattern.default_op);
        plan.type = sweep.type;
        plan.shape = sweep.shape;
        plan.options = sweep.options;
        if (sweep.auto_pitch && plan.options.pitch == "auto")
            plan.options.auto_pitch_bytes = sweep.auto_pitch(value);
        build_program(plan);
        require_walkable(plan);
        point.parameters.emplace_back(std::string(pattern.parameter),
                                      static_cast<std::int64_t>(value));
        finish_point(point, sweep, machine, settings);
    };
    each_setting(sweep, [&](const Machine& machine, const SweptSettings& settings) {
        for (const std::uint64_t value : sweep.values) add_point(machine, settings, value);
    });
    return points;
}

NamedValues describe_sweep(const Sweep& sweep) {
    const PatternInfo& pattern = find_pattern(sweep.pattern);
    const LaunchShape shape = launch_shape(sweep.pattern, sweep.options, sweep.type, sweep.shape);
    NamedValues values{
        {"pattern", sweep.pattern},
        {"formula", std::string(pattern.formula)},
        {"parameter", std::string(pattern.parameter)},
        {"op", std::string(name_of(sweep.op.value_or(pattern.default_op)))},
        {"type", std::string(name_of(sweep.type))},
        {"size_bytes", static_cast<std::int64_t>(shape.size_bytes)},
        {"block", std::int64_t{shape.block}},
        {"per_thread", std::int64_t{shape.per_thread}},
    };
    add_single_settings(values, sweep);
    const auto has_option = [&](std::string_view option) {
        return pattern.options.find(option) != std::string_view::npos;
    };
    if (has_option("--variant")) values.emplace_back("variant", sweep.options.variant);
    if (const auto tile = tile_columns(sweep.pattern, sweep.options, sweep.type); tile)
        values.emplace_back("tile", static_cast<std::int64_t>(*tile));
    if (has_option("--order")) values.emplace_back("order", sweep.options.order);
    if (has_option("--seed"))
        values.emplace_back("seed", static_cast<std::int64_t>(sweep.options.seed));
    if (has_option("--member"))
        values.emplace_back("member", static_cast<std::int64_t>(sweep.options.member));
    if (has_option("--pitch")) values.emplace_back("pitch", sweep.options.pitch);
    return values;
}

}  // namespace coalprof
