#include "core/sweep/sweep_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/count/launch_sum.h"
#include "core/count/transactions.h"
#include "core/pattern/memory_settings.h"
#include "core/pattern/transpose.h"
#include "core/pattern/walk_limit.h"
#include "core/text/error.h"
#include "core/text/range.h"

namespace coalprof {
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
        throw UsageError(too_many_to_walk(extent_as_typed(plan.shape), warps), {},
                         UsageError::no_caret, "choose fewer threads");
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
    point.settings.clear();
    choose(sweep.memory_axes, setting % combinations, launch, point.settings);
    point.machine = machine;
    point.plan.cache = {.dlcm = launch.dlcm.value_or(usual_load_modifier(*machine.rules)),
                        .dscm = launch.dscm,
                        .carveout = launch.carveout,
                        .l2_fetch_bytes = launch.l2_fetch_bytes};
    point.plan.allocation = launch.allocation;
    point.plan.path = launch.path;
    apply_memory_settings(point.plan);
    point.scope.clear();
    if (sweep.machines.size() > 1) point.scope.emplace_back("machine", machine.name);
    for (const NamedValues& more : {point.scope, point.settings})
        point.parameters.insert(point.parameters.end(), more.begin(), more.end());
    point.name = name_of_point(point.parameters);
    // What the split leaves for L1 follows from the carveout and is no part of the name.
    if (has_axis(sweep.memory_axes, "carveout"))
        point.parameters.emplace_back("l1_kib", l1_kib_of(machine, launch.carveout));
}

void add_device(PlannedPoint& point, const Sweep& sweep) {
    if (!sweep.device) return;
    point.parameters.emplace_back("device", *sweep.device);
    point.scope.emplace_back("device", *sweep.device);
    point.name += fmt::format(" device={}", *sweep.device);
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
