#include "core/sweep/sweep.h"

#include <utility>

#include "core/sweep/sweep_axes.h"

namespace coalprof {

SweepPoints::SweepPoints(Sweep sweep)
    : sweep_(std::move(sweep)), pattern_(find_pattern(sweep_.pattern)) {
    require_reasonable_count(sweep_, sweep_.values.size());
    settings_ = combinations_of(sweep_);
}

bool SweepPoints::compares_settings() const { return has_swept_settings(sweep_); }

void SweepPoints::make(PlannedPoint& point) const {
    const std::uint64_t value = sweep_.values[point.number % sweep_.values.size()];
    const SweptSettings& settings = settings_[point.number / sweep_.values.size()];
    Plan& plan = point.plan;
    plan.pattern = sweep_.pattern;
    plan.value = value;
    plan.op = sweep_.op.value_or(pattern_.default_op);
    plan.type = sweep_.type;
    plan.shape = sweep_.shape;
    plan.options = sweep_.options;
    if (sweep_.auto_pitch && plan.options.pitch == "auto")
        plan.options.auto_pitch_bytes = sweep_.auto_pitch(value);
    build_program(plan);
    require_walkable(plan);
    point.parameters = {{std::string(pattern_.parameter), value}};
    finish_point(point, sweep_, settings);
    add_device(point, sweep_);
}

SweepFacts describe_sweep(const Sweep& sweep) {
    const PatternInfo& pattern = find_pattern(sweep.pattern);
    const LaunchShape shape = launch_shape(sweep.pattern, sweep.options, sweep.type, sweep.shape);
    const PatternOptions& options = sweep.options;
    SweepFacts facts{
        .pattern = sweep.pattern,
        .formula = std::string(pattern.formula),
        .parameter = std::string(pattern.parameter),
        .op = std::string(name_of(sweep.op.value_or(pattern.default_op))),
        .type = std::string(name_of(sweep.type)),
        .size_bytes = shape.size_bytes,
        .block = shape.block,
        .per_thread = shape.per_thread,
        .settings = single_settings(sweep),
        .tile = tile_columns(sweep.pattern, options, sweep.type),
    };
    const auto has_option = [&](std::string_view option) {
        return pattern.options.find(option) != std::string_view::npos;
    };
    if (has_option("--variant")) facts.variant = options.variant;
    if (has_option("--order")) facts.more.emplace_back("order", options.order);
    if (has_option("--seed")) facts.more.emplace_back("seed", options.seed);
    if (has_option("--member")) facts.more.emplace_back("member", options.member);
    if (has_option("--pitch")) facts.more.emplace_back("pitch", options.pitch);
    return facts;
}

}  // namespace coalprof
