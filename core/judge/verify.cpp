#include "core/judge/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/sweep/patterns.h"
#include "core/sweep/sweep.h"
#include "core/sweep/transpose.h"
#include "core/text/error.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

// Evenly spread values of a list, its first and last among them.
std::vector<std::uint64_t> spread(const std::vector<std::uint64_t>& values, std::size_t most) {
    if (values.size() <= most || most < 2) return values;
    std::vector<std::uint64_t> chosen;
    for (std::size_t i = 0; i < most; ++i)
        chosen.push_back(values[i * (values.size() - 1) / (most - 1)]);
    return chosen;
}

template <typename List, typename Item>
bool is_in_scope(const List& list, const Item& item) {
    return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
}

// The option sets of a pattern under which it makes different programs.
std::vector<PatternOptions> options_to_verify(const PatternInfo& pattern) {
    std::vector<PatternOptions> all;
    if (!pattern.takes("--variant")) return {PatternOptions{}};
    const auto add = [&](std::string_view variant, std::optional<std::uint64_t> tile) {
        PatternOptions& options = all.emplace_back();
        options.variant = variant;
        options.tile = tile;
    };
    // Tiles of all sizes where they decide over the banks; always those of 16, where a warp takes
    // two rows.
    for (const std::string_view variant : find_launch_option("variant")->words()) {
        const bool has_own_banks = variant == "padded" || variant == "swizzled";
        if (!has_own_banks) add(variant, std::nullopt);
        if (!has_tile(variant)) continue;
        add(variant, 16);
        if (!has_own_banks) continue;
        add(variant, 32);
        add(variant, 64);
    }
    return all;
}

std::string name_of(const PlannedPoint& point) {
    const Plan& plan = point.plan;
    std::string variant = plan.options.variant == "naive" ? "" : " " + plan.options.variant;
    if (plan.options.tile) variant += fmt::format(" tile={}", *plan.options.tile);
    return fmt::format("{}{} {} {} {}", plan.pattern, variant, name_of(plan.op), name_of(plan.type),
                       point.name);
}

}  // namespace

CatalogPoints::CatalogPoints(const VerifyScope& scope, const Machine& machine)
    : size_bytes_(scope.size_bytes), machine_(machine) {
    for (const std::string_view op : word_list<Op>()) {
        if (!is_in_scope(scope.ops, *find_word<Op>(op))) continue;
        for (const PatternInfo& pattern : pattern_catalog()) {
            if (!is_in_scope(scope.patterns, pattern.name)) continue;
            for (const std::string_view type : element_type_list()) {
                if (!is_in_scope(scope.types, *find_element_type(type))) continue;
                if (bytes_of(*find_element_type(type)) >
                    machine.rules->abilities.widest_access_bytes)
                    continue;
                for (const PatternOptions& options : options_to_verify(pattern))
                    add_values({&pattern, options, *find_word<Op>(op), *find_element_type(type)},
                               scope.most_values);
            }
        }
    }
    std::map<std::pair<Op, AccessSet>, std::vector<Recipe>> alike;
    for (Recipe& recipe : recipes_)
        alike[{recipe.op, recipe.accesses}].push_back(std::move(recipe));
    recipes_.clear();
    for (auto& [what, some] : alike)
        std::move(some.begin(), some.end(), std::back_inserter(recipes_));
}

// Adds the values at which op, type and value fit the pattern.
void CatalogPoints::add_values(Recipe recipe, std::size_t most_values) {
    const auto values =
        parse_sized_range(recipe.pattern->default_range(bytes_of(recipe.type)), "--range").values;
    for (const std::uint64_t value : spread(values, most_values)) {
        try {
            recipe.value = value;
            recipe.accesses = accesses_of(point_of(recipe).plan.program);
            recipes_.push_back(recipe);
        } catch (const UsageError&) {
            continue;
        }
    }
}

PlannedPoint CatalogPoints::point_of(const Recipe& recipe) const {
    Sweep sweep;
    sweep.pattern = std::string(recipe.pattern->name);
    sweep.launch.options = recipe.options;
    sweep.values = {recipe.value};
    sweep.launch.op = recipe.op;
    sweep.launch.type = recipe.type;
    sweep.launch.shape.size_bytes = size_bytes_;
    sweep.machines = {machine_};
    return SweepPoints(std::move(sweep)).at(0);
}

void CatalogPoints::make(PlannedPoint& point) const {
    const std::uint64_t number = point.number;
    point = point_of(recipes_[number]);
    point.number = number;
    point.name = name_of(point);
}

void Tally::begin(const ResultHead& head) {
    if (points_) points_->begin(head);
}

void Tally::point(const Point& point) {
    totals_.points += 1;
    if (!point.failure.empty()) {
        totals_.failed_points += 1;
        totals_.findings.push_back({point.name, point.failure});
    }
    if (point.measured) {
        const Agreement agreement = agreement_of(point);
        totals_.compared += agreement.compared;
        totals_.missing += agreement.missing;
        totals_.disagreements += agreement.disagreements.size();
        for (const HeldInterval& interval : agreement.intervals) {
            VerifyTotals::Estimated& of = totals_.estimated[interval.counter];
            of.measured += 1;
            of.held += interval.holds;
        }
        for (const Disagreement& found : agreement.disagreements)
            totals_.findings.push_back({point.name, describe(found)});
    }
    if (points_) points_->point(point);
}

void Tally::finish(const ResultTail& tail) {
    totals_.status = tail.status;
    for (const Warning& warning : tail.warnings)
        if (warning.point.empty()) totals_.findings.push_back({"", warning.text});
    if (points_) points_->finish(tail);
}

}  // namespace coalprof
