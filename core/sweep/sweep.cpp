#include "core/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/count/launch_sum.h"
#include "core/count/transactions.h"
#include "core/pattern/memory_settings.h"
#include "core/pattern/walk_limit.h"
#include "core/sweep/transpose.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/range.h"

namespace coalprof {

namespace {

// Some patterns take another number of threads than elements, or than was asked for.
void require_grid(const Plan& plan) {
    const LaunchShape& shape = plan.shape;
    if (!shape.grid || plan.program.threads == shape.grid->count() * shape.block) return;
    throw UsageError(fmt::format("--grid {}: {} threads, and {} of as many elements takes {}",
                                 text_of(*shape.grid), shape.grid->count() * shape.block,
                                 plan.pattern, plan.program.threads),
                     fmt::format("without --grid, say how large its data are: --size {}",
                                 size_as_typed({.size_bytes = shape.size_bytes})));
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> numbers_of(const Dimensions& dimensions) {
    return {dimensions.x, dimensions.y, dimensions.z};
}

// A value as typed, in the pattern's unit.
std::uint64_t value_in(const Sweep& sweep, const PatternInfo& pattern, std::uint64_t value,
                       ElementType type) {
    const std::uint32_t width = bytes_of(type);
    std::uint64_t bytes = 0;
    switch (sweep.values_unit) {
        case ValueUnit::of_parameter: break;
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

void take_option(Sweep& sweep, std::string_view key, const std::string& text) {
    const LaunchOption& option = *find_launch_option(key);
    take_option(option, text, sweep.launch,
                option.group == OptionGroup::memory ? sweep.memory_axes : sweep.axes);
}

void set_values(Sweep& sweep, const PatternInfo& pattern, const std::string& text,
                const std::string& option) {
    sweep.values_unit = ValueUnit::of_parameter;
    const bool are_elements = pattern.unit == "elements";
    const bool are_bytes = pattern.unit == "bytes";
    // The widest of several types: whole elements of it are whole elements of all.
    std::uint32_t width = bytes_of(sweep.launch.type);
    for (const Axis& axis : sweep.axes)
        for (const AxisValue& value : axis.values) {
            ChosenLaunch choice;
            choice.type = sweep.launch.type;
            value.choose(choice);
            width = std::max(width, bytes_of(choice.type));
        }
    std::string range = text.empty() ? pattern.default_range(width) : text;
    // In the form of points' names: row_bytes=4000, row_elements=1000.
    const std::size_t equals = range.find('=');
    const std::string name = range.substr(0, equals == range.npos ? 0 : equals);
    const bool is_named = name == pattern.parameter;
    if (is_named || (pattern.typed_in_elements && name == "row_elements"))
        range.erase(0, equals + 1);
    else if (equals != range.npos)
        throw UsageError(fmt::format("{} {}: {} has no parameter '{}'", option, shown(range),
                                     pattern.name, shown(name)),
                         fmt::format("its parameter is {}: {} {}={}", pattern.parameter, option,
                                     pattern.parameter, shown(range.substr(equals + 1))));
    // A matrix, 1000x500: its rows follow from --size.
    if (const std::size_t by = range.rfind('x');
        by != range.npos && range.front() > '0' &&
        range.find_first_not_of("0123456789x") == range.npos)
        throw UsageError(
            fmt::format("{} {}: the {} is one number", option, shown(range), pattern.parameter),
            fmt::format("coalprof {} {} {}", pattern.name, option, shown(range.substr(by + 1))));
    std::string hint;
    const std::string usual = pattern.default_range(width);
    if (option == "--at")
        hint = fmt::format("one value: {1}, or with its name, {0}={1}", pattern.parameter,
                           usual.substr(0, usual.find_first_of(".,")));
    if (!are_elements && !are_bytes) {
        sweep.values = parse_range(range, option, hint).values();
        return;
    }
    SizedRange typed = parse_sized_range(range, option, hint);
    sweep.values = std::move(typed.values);
    if (are_elements && typed.are_bytes) sweep.values_unit = ValueUnit::bytes;
    if (pattern.typed_in_elements && !typed.are_bytes && !is_named)
        sweep.values_unit = ValueUnit::elements;
}

SweepPoints::SweepPoints(Sweep sweep)
    : sweep_(std::move(sweep)), pattern_(find_pattern(sweep_.pattern)) {
    join_variants_with_tiles(sweep_);
    require_reasonable_count(sweep_, sweep_.values.size());
    launches_ = sweep_.values.size() * count_of(sweep_.axes);
}

std::uint64_t SweepPoints::count() const { return count_of_settings(sweep_) * launches_; }

void SweepPoints::make(PlannedPoint& point) const {
    const std::uint64_t launch = point.number % launches_;
    ChosenLaunch choice = sweep_.launch;
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
    finish_point(point, sweep_, std::move(choice), point.number / launches_);
    // Values that follow from the rest are no part of the name.
    if (pattern_.typed_in_elements)
        point.parameters.emplace_back("row_elements", value / bytes_of(plan.type));
    if (const auto pitch = plan.pattern == "transpose" ? tile_pitch(plan.options, plan.type)
                                                       : std::optional<std::uint64_t>())
        point.parameters.emplace_back("tile_pitch", *pitch);
    if (size_follows_axes(sweep_))
        point.parameters.emplace_back("size_bytes", plan.shape.size_bytes);
}

SweepFacts describe_sweep(const Sweep& sweep) {
    const PatternInfo& pattern = find_pattern(sweep.pattern);
    // The grid decides the size where there is one.
    const bool size_varies = size_follows_axes(sweep);
    const ChosenLaunch& launch = sweep.launch;
    const LaunchShape settled =
        size_varies ? launch.shape : settled_shape(launch.shape, launch.type);
    // Each point states swept values itself.
    const auto is_single = [&](std::string_view key) { return !has_axis(sweep.axes, key); };
    SweepFacts facts{
        .pattern = sweep.pattern,
        .formula = std::string(pattern.formula),
        .parameter = std::string(pattern.parameter),
        .settings = single_settings(sweep),
    };
    if (is_single("op")) facts.op = name_of(launch.op.value_or(pattern.default_op));
    if (is_single("type")) facts.type = name_of(launch.type);
    if (is_single("size_bytes") && !size_varies) facts.size_bytes = settled.size_bytes;
    if (is_single("block")) facts.block = settled.block;
    // A transpose derives its tile and the elements of a thread from these.
    const bool one_tile =
        is_single("variant") && is_single("tile") && is_single("type") && is_single("block");
    if (one_tile) facts.tile = tile_columns(sweep.pattern, launch.options, launch.type);
    if (is_single("per_thread") && (one_tile || !pattern.takes("--variant")))
        facts.per_thread =
            launch_shape(sweep.pattern, launch.options, launch.type, settled).per_thread;
    if (is_single("block") && settled.block_shape)
        std::tie(facts.block_x, facts.block_y, facts.block_z) = numbers_of(*settled.block_shape);
    if (!grid_varies(sweep) && settled.grid)
        std::tie(facts.grid_x, facts.grid_y, facts.grid_z) = numbers_of(*settled.grid);
    for (const LaunchOption& option : launch_options()) {
        const bool is_own = option.group == OptionGroup::pattern && option.key != "tile" &&
                            pattern.takes(option.word);
        if (!is_own || !is_single(option.key)) continue;
        if (option.key == "variant")
            facts.variant = launch.options.variant;
        else
            facts.more.emplace_back(option.key, option.shown(launch));
    }
    return facts;
}

namespace {

// "offset=11 dlcm=cg"
std::string name_of_point(const NamedValues& parameters) {
    std::string name;
    for (const auto& [key, value] : parameters)
        if (!std::holds_alternative<std::monostate>(value))
            name += fmt::format("{}{}={}", name.empty() ? "" : " ", key, text_of(value));
    return name;
}

std::uint32_t l1_kib_of(const Machine& machine, const std::optional<Carveout>& carveout) {
    std::optional<std::uint32_t> shared_percent;
    if (carveout) shared_percent = carveout->shared_percent;
    return l1_split(machine.rules->l1, shared_percent).l1_kib;
}

}  // namespace

void require_reasonable_count(const Sweep& sweep, std::uint64_t values) {
    const std::uint64_t count = saturating_product(
        {values, count_of(sweep.axes), count_of(sweep.memory_axes), sweep.machines.size()});
    if (count > most_range_points)
        throw UsageError(fmt::format("{} points: a sweep has at most {}; use fewer values or lists",
                                     count, most_range_points));
}

void require_walkable(const Plan& plan) {
    const std::uint64_t warps = warps_walked(plan.program);
    if (warps > most_walked_warps)
        throw UsageError(too_many_to_walk(extent_as_typed(plan.shape), warps),
                         "choose fewer threads");
}

std::uint64_t count_of_settings(const Sweep& sweep) {
    return sweep.machines.size() * count_of(sweep.memory_axes);
}

bool grid_varies(const Sweep& sweep) {
    const auto& grid = sweep.launch.shape.asked_grid;
    return has_axis(sweep.axes, "grid") ||
           (grid && grid->counts_threads && has_axis(sweep.axes, "block"));
}

bool size_follows_axes(const Sweep& sweep) {
    return sweep.launch.shape.grid &&
           (has_axis(sweep.axes, "grid") || has_axis(sweep.axes, "block") ||
            has_axis(sweep.axes, "type"));
}

void join_variants_with_tiles(Sweep& sweep) {
    const auto axis_of = [&](std::string_view key) {
        return std::ranges::find(sweep.axes, key, &Axis::key);
    };
    const auto variants = axis_of("variant");
    if (variants == sweep.axes.end()) return;
    const auto takes_tile = [](const AxisValue& variant) {
        return has_tile(text_of(variant.shown));
    };
    const auto with_tile = std::ranges::count_if(variants->values, takes_tile);
    if (with_tile == 0 || std::cmp_equal(with_tile, variants->values.size())) return;

    std::vector<AxisValue> tiles;
    if (const auto swept = axis_of("tile"); swept != sweep.axes.end())
        tiles = swept->values;
    else if (sweep.launch.options.tile)
        tiles = {{Value{*sweep.launch.options.tile},
                  [tile = sweep.launch.options.tile](ChosenLaunch& choice) {
                      choice.options.tile = tile;
                  }}};
    else
        return;
    std::vector<AxisValue> joined;
    for (const AxisValue& variant : variants->values) {
        if (!takes_tile(variant)) {
            const auto without = [choose = variant.choose](ChosenLaunch& choice) {
                choose(choice);
                choice.options.tile.reset();
            };
            joined.push_back({variant.shown, without, {{"tile", {}}}});
            continue;
        }
        for (const AxisValue& tile : tiles) {
            const auto both = [variant = variant.choose, tile = tile.choose](ChosenLaunch& choice) {
                variant(choice);
                tile(choice);
            };
            joined.push_back({variant.shown, both, {{"tile", tile.shown}}});
        }
    }
    variants->values = std::move(joined);
    std::erase_if(sweep.axes, [](const Axis& axis) { return axis.key == "tile"; });
}

void finish_point(PlannedPoint& point, const Sweep& sweep, ChosenLaunch launch,
                  std::uint64_t setting) {
    const std::uint64_t combinations = count_of(sweep.memory_axes);
    const Machine& machine = sweep.machines[setting / combinations];
    NamedValues settings;
    choose(sweep.memory_axes, setting % combinations, launch, settings);
    point.machine = machine;
    point.plan.cache = {.dlcm = launch.dlcm.value_or(usual_load_modifier(*machine.rules)),
                        .dscm = launch.dscm,
                        .carveout = launch.carveout,
                        .l2_fetch_bytes = launch.l2_fetch_bytes};
    point.plan.allocation = launch.allocation;
    point.plan.path = launch.path;
    apply_memory_settings(point.plan);
    // Only compilers for 7.0 and later combine a warp's atomics (core/program/combining.cpp).
    if (machine.rules->cc.major < 7)
        for (Instruction& one : point.plan.program.instructions) one.one_lane_sends = false;
    if (sweep.machines.size() > 1) point.parameters.emplace_back("machine", machine.name);
    point.parameters.insert(point.parameters.end(), settings.begin(), settings.end());
    point.name = name_of_point(point.parameters);
    // The rest that the split leaves for L1 follows from the carveout and is no part of the name.
    if (has_axis(sweep.memory_axes, "carveout"))
        point.parameters.emplace_back("l1_kib", l1_kib_of(machine, launch.carveout));
}

NamedValues single_settings(const Sweep& sweep) {
    NamedValues values;
    for (const LaunchOption& option : launch_options()) {
        if (option.group != OptionGroup::memory || has_axis(sweep.memory_axes, option.key))
            continue;
        if (Value value = option.shown(sweep.launch);
            !std::holds_alternative<std::monostate>(value))
            values.emplace_back(option.key, std::move(value));
    }
    return values;
}

bool is_taken_name(std::string_view name) {
    constexpr std::array<std::string_view, 13> others{
        "pattern", "name",   "formula", "block_x", "block_y", "block_z", "grid_x",
        "grid_y",  "grid_z", "machine", "device",  "l1_kib",  "failure"};
    const LaunchOption* option = find_launch_option(name);
    return (option && option->group != OptionGroup::pattern) ||
           std::ranges::find(others, name) != others.end();
}

}  // namespace coalprof
