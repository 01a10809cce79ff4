// plan_metrics(): from counters to the metrics of one chip.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cupti/metric_table.h"

namespace coalprof {
namespace {

// Index of `name` in `names`, where it is put if it is not there yet.
std::size_t index_of(std::vector<std::string>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) names.emplace_back(name);
    return index;
}

class Planner {
 public:
    Planner(std::string_view chip, const std::function<bool(std::string_view)>& has_metric,
            bool of_lone_warps)
        : chip_(chip), has_metric_(has_metric), of_lone_warps_(of_lone_warps) {}

    void add(Counter counter) {
        const CounterMetrics& row = metrics_of(counter);
        switch (row.cost) {
            case MetricCost::elsewhere:
                return;
            case MetricCost::derived:
                if (const auto& parts = info(counter).parts) {
                    add(parts->above);
                    add(*parts->below);
                }
                return;
            case MetricCost::never:
                if (is_new(counter)) plan_.unavailable.emplace_back(counter, Unavailable{row.note});
                return;
            case MetricCost::base:
            case MetricCost::extra:
            case MetricCost::instrumented:
                if (is_new(counter)) add_measured(row);
        }
    }

    MetricPlan take() { return std::move(plan_); }

 private:
    bool is_new(Counter counter) {
        return !std::exchange(seen_[static_cast<std::size_t>(counter)], true);
    }

    // The first candidate that the chip has; empty: none.
    std::string_view choose(const CounterMetrics& row) const {
        for (const std::string_view candidate : row.candidates)
            if (!candidate.empty() && has_metric_(candidate)) return candidate;
        return {};
    }

    void add_measured(const CounterMetrics& row) {
        const std::string_view choice = choose(row);
        if (choice.empty()) {
            plan_.unavailable.emplace_back(
                row.counter, Unavailable{keep_reason(
                                 fmt::format("{} has no metric {}", chip_, row.candidates[0]))});
            return;
        }
        const bool is_instrumented = row.cost == MetricCost::instrumented;
        MetricPlan::Source source{.counter = row.counter, .is_instrumented = is_instrumented};
        source.metric = index_of(is_instrumented ? plan_.instrumented : plan_.hardware, choice);
        if (row.needs_sole_access) source.must_be_zero = other_accesses(row.concerns);
        if (!of_lone_warps_ && !row.without_waiting.empty() && has_metric_(row.without_waiting))
            source.waiting = {.with = index_of(plan_.hardware, row.with_waiting),
                              .conflicts = index_of(plan_.hardware, row.conflicts),
                              .without = index_of(plan_.instrumented, row.without_waiting)};
        plan_.sources.push_back(std::move(source));
    }

    // The counters that tell whether the launch made accesses other than `sole`.
    std::vector<std::size_t> other_accesses(AccessSet sole) {
        std::vector<std::size_t> metrics;
        for (const Counter requests :
             {Counter::load_requests, Counter::store_requests, Counter::atomic_requests,
              Counter::reduce_requests, Counter::shared_load_requests,
              Counter::shared_store_requests, Counter::local_load_requests,
              Counter::local_store_requests}) {
            const CounterMetrics& row = metrics_of(requests);
            if (row.concerns.meets(sole)) continue;
            const std::string_view choice = choose(row);
            if (!choice.empty()) metrics.push_back(index_of(plan_.hardware, choice));
        }
        return metrics;
    }

    std::string_view chip_;
    const std::function<bool(std::string_view)>& has_metric_;
    bool of_lone_warps_;
    MetricPlan plan_;
    std::array<bool, counter_count> seen_{};
};

}  // namespace

MetricPlan plan_metrics(std::span<const Counter> wanted, std::string_view chip,
                        const std::function<bool(std::string_view)>& has_metric,
                        bool of_lone_warps) {
    Planner planner(chip, has_metric, of_lone_warps);
    for (const Counter counter : wanted) planner.add(counter);
    return planner.take();
}

}  // namespace coalprof
