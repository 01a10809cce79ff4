#include "core/sweep/sweep.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "core/sweep/sweep_axes.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// Some patterns take more threads than elements, or other numbers of them than were asked for.
void require_grid(const Plan& plan) {
    const LaunchShape& shape = plan.shape;
    if (!shape.grid || plan.program.threads == shape.grid->count() * shape.block) return;
    throw UsageError(fmt::format("--grid {}: {} threads, and {} of as many elements takes {}",
                                 text_of(*shape.grid), shape.grid->count() * shape.block,
                                 plan.pattern, plan.program.threads),
                     {}, UsageError::no_caret, "say how large its data are: --size");
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> numbers_of(const Dimensions& dimensions) {
    return {dimensions.x, dimensions.y, dimensions.z};
}

}  // namespace

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
    plan.shape = settled_shape(sweep_.shape, sweep_.type);
    plan.options = sweep_.options;
    if (sweep_.auto_pitch && plan.options.pitch == "auto")
        plan.options.auto_pitch_bytes = sweep_.auto_pitch(value);
    build_program(plan);
    require_grid(plan);
    require_walkable(plan);
    point.parameters = {{std::string(pattern_.parameter), value}};
    finish_point(point, sweep_, settings);
    add_device(point, sweep_);
}

SweepFacts describe_sweep(const Sweep& sweep) {
    const PatternInfo& pattern = find_pattern(sweep.pattern);
    const LaunchShape shape = launch_shape(sweep.pattern, sweep.options, sweep.type,
                                           settled_shape(sweep.shape, sweep.type));
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
    if (shape.block_shape)
        std::tie(facts.block_x, facts.block_y, facts.block_z) = numbers_of(*shape.block_shape);
    if (shape.grid) std::tie(facts.grid_x, facts.grid_y, facts.grid_z) = numbers_of(*shape.grid);
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
