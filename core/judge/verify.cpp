#include "core/judge/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/agreement.h"
#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {

Sweep VerifyScope::sweep() const {
    Sweep sweep;
    take_option(sweep, "type", types.empty() ? joined(element_type_list(), ",") : types);
    take_option(sweep, "op", ops.empty() ? joined(word_list<Op>(), ",") : ops);
    take_option(sweep, "size_bytes", size);
    return sweep;
}

CatalogPoints::CatalogPoints(const VerifyScope& scope, const Machine& machine) {
    for (const PatternInfo& pattern : pattern_catalog()) {
        if (!scope.patterns.empty() && std::ranges::count(scope.patterns, pattern.name) == 0)
            continue;
        Sweep sweep = scope.sweep();
        sweep.pattern = pattern.name;
        sweep.machines = {machine};
        if (pattern.takes("--variant")) {
            take_option(sweep, "variant", joined(find_launch_option("variant")->words(), ","));
            take_option(sweep, "tile", "16,32,64");  // that decide over the banks
        }
        set_values(sweep, pattern, {}, "--range");
        const std::size_t last = sweep.values.size() - 1;
        const std::size_t most = std::min(scope.most_values, sweep.values.size());
        for (std::size_t i = 1; i < most; ++i)
            sweep.values[i] = sweep.values[i * last / (most - 1)];
        sweep.values.resize(most);
        const SweepPoints& points = sweeps_.emplace_back(std::move(sweep));
        for (std::uint64_t number = 0; number < points.count(); ++number) try {
                const Plan plan = points.at(number).plan;
                if (bytes_of(plan.type) <= machine.rules->abilities.widest_access_bytes)
                    places_.push_back(
                        {plan.op, accesses_of(plan.program), sweeps_.size() - 1, number});
            } catch (const UsageError&) {
                continue;  // they do not fit together
            }
    }
    std::ranges::sort(places_);
}

void CatalogPoints::make(PlannedPoint& point) const {
    const std::uint64_t number = point.number;
    point.number = places_[number].number;
    sweeps_[places_[number].sweep].make(point);
    point.number = number;
    point.name.insert(0, point.plan.pattern + " ");
}

void VerifyJudge::begin(const ResultHead& head) {
    if (head.device) gpu_ = head.device->name;
    if (next_) next_->begin(head);
}

void VerifyJudge::point(const Point& point) {
    GateCase& exact = report_.cases.front();
    ++report_.points;
    if (!point.failure.empty())
        exact.add({.kind = GateFinding::Kind::missing, .point = point.name, .text = point.failure});
    if (point.measured) {
        const Agreement agreement = agreement_of(point);
        unmeasured_ += agreement.missing;
        for (const HeldInterval& interval : agreement.intervals) {
            auto& [held, all] = intervals_[interval.counter];
            held += interval.holds, ++all;
        }
        for (const Disagreement& found : agreement.disagreements)
            exact.add({.point = point.name,
                       .counter = key_of(found.counter),
                       .before = static_cast<double>(found.predicted),
                       .now = static_cast<double>(found.measured),
                       .text = describe(found)});
        for (auto k = agreement.disagreements.size(); k < agreement.compared; ++k) exact.hold();
    }
    if (next_) next_->point(point);
}

void VerifyJudge::finish(const ResultTail& tail) {
    GateCase& exact = report_.cases.front();
    exact.set_noun("counter");
    report_.headline =
        fmt::format("{}: {} of {} counters of {} points agree exactly", gpu_, exact.held(),
                    exact.held() + exact.count(GateFinding::Kind::broken), report_.points);
    for (const auto& [counter, of] : intervals_)
        report_.notes.push_back(fmt::format("{}: {} of {} intervals hold what was measured",
                                            key_of(counter), of.first, of.second));
    if (unmeasured_ > 0)
        report_.notes.push_back(
            fmt::format("{} predicted counters could not be measured", unmeasured_));
    if (tail.status == Status::interrupted) report_.losses.emplace_back("not all was measured");
    for (const Warning& warning : tail.warnings)
        if (warning.point.empty()) report_.losses.push_back(warning.text);
    if (next_) next_->finish(tail);
}

}  // namespace coalprof
