#include "core/run/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/pattern/catalog.h"
#include "core/pattern/transpose.h"
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
    if (pattern.options.find("--variant") == std::string_view::npos) return {PatternOptions{}};
    for (const std::string_view variant : transpose_variants())
        all.emplace_back().variant = variant;
    // The last variant with either tile, of which it chooses one for each type.
    all.back().tile = 32;
    all.emplace_back(all.back()).tile = 64;
    return all;
}

std::string name_of(const PlannedPoint& point) {
    const Plan& plan = point.plan;
    std::string variant = plan.options.variant == "naive" ? "" : " " + plan.options.variant;
    if (plan.options.tile) variant += fmt::format(" tile={}", *plan.options.tile);
    return fmt::format("{}{} {} {} {}", plan.pattern, variant, name_of(plan.op), name_of(plan.type),
                       point.name);
}

void add_points(std::vector<PlannedPoint>& points, const PatternInfo& pattern,
                const PatternOptions& options, Op op, ElementType type, const VerifyScope& scope,
                const Machine& machine) {
    const auto values = parse_range(pattern.default_range(bytes_of(type))).values();
    for (const std::uint64_t value : spread(values, scope.most_values)) {
        Sweep sweep;
        sweep.pattern = std::string(pattern.name);
        sweep.options = options;
        sweep.values = {value};
        sweep.op = op;
        sweep.type = type;
        sweep.shape.size_bytes = scope.size_bytes;
        sweep.machines = {machine};
        try {
            PlannedPoint point = expand(sweep).front();
            point.name = name_of(point);
            points.push_back(std::move(point));
        } catch (const UsageError&) {
            continue;  // this op, type or value does not fit the pattern
        }
    }
}

}  // namespace

std::vector<PlannedPoint> points_to_verify(const VerifyScope& scope, Op op,
                                           const Machine& machine) {
    std::vector<PlannedPoint> points;
    for (const PatternInfo& pattern : pattern_catalog()) {
        if (!is_in_scope(scope.patterns, pattern.name)) continue;
        for (const std::string_view name : element_type_list()) {
            const ElementType type = *find_element_type(name);
            if (!is_in_scope(scope.types, type)) continue;
            for (const PatternOptions& options : options_to_verify(pattern))
                add_points(points, pattern, options, op, type, scope, machine);
        }
    }
    return points;
}

void tally(VerifyTotals& totals, const std::string& name, const Point& point,
           const std::vector<Counter>& wanted) {
    totals.points += 1;
    if (!point.failure.empty()) {
        totals.failed_points += 1;
        totals.findings.push_back({name, point.failure, std::nullopt});
    }
    if (!point.measured) return;
    const Agreement agreement = compare(point.predicted, *point.measured);
    totals.compared += agreement.compared;
    totals.disagreements += agreement.disagreements.size();
    for (const Disagreement& found : agreement.disagreements)
        totals.findings.push_back({name, describe(found), found});
    for (const Counter counter : wanted)
        if (is_number(point.predicted[counter]) && !is_number((*point.measured)[counter]))
            totals.missing += 1;
}

}  // namespace coalprof
