#include "core/sweep/sweep.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "core/pattern/transpose.h"
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
                     {}, UsageError::no_caret,
                     fmt::format("without --grid, say how large its data are: --size {}",
                                 size_as_typed({.size_bytes = shape.size_bytes})));
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> numbers_of(const Dimensions& dimensions) {
    return {dimensions.x, dimensions.y, dimensions.z};
}

// A value as typed, in what the pattern takes.
std::uint64_t value_in(const Sweep& sweep, const PatternInfo& pattern, std::uint64_t value,
                       ElementType type) {
    const std::uint32_t width = bytes_of(type);
    std::uint64_t bytes = 0;
    switch (sweep.values_unit) {
        case ValueUnit::of_parameter:
            break;
        case ValueUnit::elements:
            if (__builtin_mul_overflow(value, width, &bytes))
                throw UsageError(fmt::format("{} {}: {} elements are more than 2^64 bytes",
                                             pattern.name, value, value));
            return bytes;
        case ValueUnit::bytes:
            if (value % width != 0)
                throw UsageError(
                    fmt::format("{}: {} bytes are not a whole number of {} elements: choose a "
                                "multiple of {}",
                                pattern.name, value, name_of(type), width));
            return value / width;
    }
    return value;
}

}  // namespace

SweepPoints::SweepPoints(Sweep sweep)
    : sweep_(std::move(sweep)), pattern_(find_pattern(sweep_.pattern)) {
    join_variants_with_tiles(sweep_);
    require_reasonable_count(sweep_, sweep_.values.size());
    launches_ = sweep_.values.size() * count_of(sweep_.axes);
    settings_ = combinations_of(sweep_);
}

bool SweepPoints::compares_settings() const { return has_swept_settings(sweep_); }

void SweepPoints::make(PlannedPoint& point) const {
    const std::uint64_t launch = point.number % launches_;
    const SweptSettings& settings = settings_[point.number / launches_];
    ChosenLaunch choice{
        .op = sweep_.op, .type = sweep_.type, .shape = sweep_.shape, .options = sweep_.options};
    point.parameters = {{std::string(pattern_.parameter), {}}};
    choose(sweep_.axes, launch / sweep_.values.size(), choice, point.parameters);
    const std::uint64_t value =
        value_in(sweep_, pattern_, sweep_.values[launch % sweep_.values.size()], choice.type);
    point.parameters.front().second = value;
    Plan& plan = point.plan;
    plan.pattern = sweep_.pattern;
    plan.value = value;
    plan.op = choice.op.value_or(pattern_.default_op);
    plan.type = choice.type;
    plan.shape = settled_shape(choice.shape, choice.type);
    plan.options = choice.options;
    if (sweep_.auto_pitch && plan.options.pitch == "auto")
        plan.options.auto_pitch_bytes = sweep_.auto_pitch(value);
    build_program(plan);
    require_grid(plan);
    require_walkable(plan);
    finish_point(point, sweep_, settings);
    // What follows from the rest is no part of the name.
    if (pattern_.typed_in_elements)
        point.parameters.emplace_back("row_elements", value / bytes_of(plan.type));
    if (const auto pitch = plan.pattern == "transpose" ? tile_pitch(plan.options, plan.type)
                                                       : std::optional<std::uint64_t>())
        point.parameters.emplace_back("tile_pitch", *pitch);
    if (size_follows_axes(sweep_))
        point.parameters.emplace_back("size_bytes", plan.shape.size_bytes);
    add_device(point, sweep_);
}

SweepFacts describe_sweep(const Sweep& sweep) {
    const PatternInfo& pattern = find_pattern(sweep.pattern);
    // The grid decides the size where there is one.
    const bool size_varies = size_follows_axes(sweep);
    const LaunchShape settled = size_varies ? sweep.shape : settled_shape(sweep.shape, sweep.type);
    const PatternOptions& options = sweep.options;
    // What is swept each point says for itself.
    const auto is_single = [&](std::string_view key) { return !has_axis(sweep.axes, key); };
    SweepFacts facts{
        .pattern = sweep.pattern,
        .formula = std::string(pattern.formula),
        .parameter = std::string(pattern.parameter),
        .settings = single_settings(sweep),
    };
    if (is_single("op")) facts.op = name_of(sweep.op.value_or(pattern.default_op));
    if (is_single("type")) facts.type = name_of(sweep.type);
    if (is_single("size_bytes") && !size_varies) facts.size_bytes = settled.size_bytes;
    if (is_single("block")) facts.block = settled.block;
    // A transpose makes these of the others.
    const bool one_tile =
        is_single("variant") && is_single("tile") && is_single("type") && is_single("block");
    if (one_tile) facts.tile = tile_columns(sweep.pattern, options, sweep.type);
    const bool has_variants = pattern.options.find("--variant") != std::string_view::npos;
    if (is_single("per_thread") && (one_tile || !has_variants))
        facts.per_thread = launch_shape(sweep.pattern, options, sweep.type, settled).per_thread;
    if (is_single("block") && settled.block_shape)
        std::tie(facts.block_x, facts.block_y, facts.block_z) = numbers_of(*settled.block_shape);
    if (is_single("grid") && settled.grid)
        std::tie(facts.grid_x, facts.grid_y, facts.grid_z) = numbers_of(*settled.grid);
    const auto says = [&](std::string_view key) {
        return pattern.options.find("--" + std::string(key)) != std::string_view::npos &&
               is_single(key);
    };
    if (says("variant")) facts.variant = options.variant;
    if (says("order")) facts.more.emplace_back("order", options.order);
    if (says("seed")) facts.more.emplace_back("seed", options.seed);
    if (says("member")) facts.more.emplace_back("member", options.member);
    if (says("pitch")) facts.more.emplace_back("pitch", options.pitch);
    return facts;
}

}  // namespace coalprof
