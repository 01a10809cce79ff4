#include "core/sweep/sweep_axes.h"

#include <fmt/format.h>

#include <algorithm>
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

Value value_of(const std::optional<Carveout>& carveout) {
    return carveout ? carveout->text : "driver";
}
Value value_of(const std::optional<std::uint32_t>& bytes) {
    return bytes ? Value{*bytes} : Value{"driver"};
}
template <typename Enum>
Value value_of(Enum modifier) {
    return name_of(modifier);
}

// A setting is a parameter of the points when it takes several values.
template <typename List, typename Item>
void add_if_swept(NamedValues& parameters, const char* key, const List& list, const Item& item) {
    if (list.size() > 1) parameters.emplace_back(key, value_of(item));
}

// "offset=11 dlcm=cg"
std::string name_of_point(const NamedValues& parameters) {
    std::string name;
    for (const auto& [key, value] : parameters)
        if (!std::holds_alternative<std::monostate>(value))
            name += fmt::format("{}{}={}", name.empty() ? "" : " ", key, text_of(value));
    return name;
}

std::uint32_t l1_kib_of(const Machine& machine, const CachePolicy& cache) {
    std::optional<std::uint32_t> shared_percent;
    if (cache.carveout) shared_percent = cache.carveout->shared_percent;
    return l1_split(machine.rules->l1, shared_percent).l1_kib;
}

template <typename List>
void add_if_single(NamedValues& values, const char* key, const List& list) {
    if (list.size() == 1) values.emplace_back(key, value_of(list.front()));
}

}  // namespace

void require_reasonable_count(const Sweep& sweep, std::uint64_t values) {
    const std::uint64_t count = saturating_product(
        {values, count_of(sweep.axes), std::max<std::size_t>(sweep.dlcm.size(), 1),
         sweep.dscm.size(), sweep.carveouts.size(), sweep.l2_fetch_bytes.size(),
         sweep.allocations.size(), sweep.paths.size(), sweep.machines.size()});
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

std::vector<SweptSettings> combinations_of(const Sweep& sweep) {
    std::vector<SweptSettings> combinations;
    for (std::size_t machine = 0; machine < sweep.machines.size(); ++machine) {
        const std::vector<LoadModifier> modifiers =
            sweep.dlcm.empty() ? std::vector{usual_load_modifier(*sweep.machines[machine].rules)}
                               : sweep.dlcm;
        for (const Allocation allocation : sweep.allocations)
            for (const LoadPath path : sweep.paths)
                for (const auto& l2_fetch : sweep.l2_fetch_bytes)
                    for (const auto& carveout : sweep.carveouts)
                        for (const StoreModifier dscm : sweep.dscm)
                            for (const LoadModifier dlcm : modifiers)
                                combinations.push_back(
                                    {machine, {dlcm, dscm, carveout, l2_fetch}, allocation, path});
    }
    return combinations;
}

bool has_swept_settings(const Sweep& sweep) {
    const auto is_swept = [](const auto&... lists) { return ((lists.size() > 1) || ...); };
    return is_swept(sweep.allocations, sweep.paths, sweep.dlcm, sweep.dscm, sweep.carveouts,
                    sweep.l2_fetch_bytes);
}

bool size_follows_axes(const Sweep& sweep) {
    return sweep.shape.grid && (has_axis(sweep.axes, "grid") || has_axis(sweep.axes, "block") ||
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
    else if (sweep.options.tile)
        tiles = {{Value{*sweep.options.tile}, [tile = sweep.options.tile](ChosenLaunch& choice) {
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

void finish_point(PlannedPoint& point, const Sweep& sweep, const SweptSettings& settings) {
    const Machine& machine = sweep.machines[settings.machine];
    const CachePolicy& cache = settings.cache;
    point.machine = machine;
    point.plan.cache = cache;
    point.plan.allocation = settings.allocation;
    point.plan.path = settings.path;
    apply_memory_settings(point.plan);
    point.scope.clear();
    if (sweep.machines.size() > 1) point.scope.emplace_back("machine", machine.name);
    point.settings.clear();
    add_if_swept(point.settings, "alloc", sweep.allocations, settings.allocation);
    add_if_swept(point.settings, "path", sweep.paths, settings.path);
    add_if_swept(point.settings, "dlcm", sweep.dlcm, cache.dlcm);
    add_if_swept(point.settings, "dscm", sweep.dscm, cache.dscm);
    add_if_swept(point.settings, "carveout", sweep.carveouts, cache.carveout);
    add_if_swept(point.settings, "l2_fetch", sweep.l2_fetch_bytes, cache.l2_fetch_bytes);
    for (const NamedValues& more : {point.scope, point.settings})
        point.parameters.insert(point.parameters.end(), more.begin(), more.end());
    point.name = name_of_point(point.parameters);
    // What the split leaves for L1 follows from the carveout and is no part of the name.
    if (sweep.carveouts.size() > 1)
        point.parameters.emplace_back("l1_kib", l1_kib_of(machine, cache));
}

void add_device(PlannedPoint& point, const Sweep& sweep) {
    if (!sweep.device) return;
    point.parameters.emplace_back("device", *sweep.device);
    point.scope.emplace_back("device", *sweep.device);
    point.name += fmt::format(" device={}", *sweep.device);
}

NamedValues single_settings(const Sweep& sweep) {
    NamedValues values;
    add_if_single(values, "dlcm", sweep.dlcm);
    add_if_single(values, "dscm", sweep.dscm);
    add_if_single(values, "carveout", sweep.carveouts);
    add_if_single(values, "l2_fetch", sweep.l2_fetch_bytes);
    add_if_single(values, "alloc", sweep.allocations);
    add_if_single(values, "path", sweep.paths);
    return values;
}

}  // namespace coalprof
