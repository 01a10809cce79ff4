#include "cupti/counter_set.h"

namespace coalprof {

namespace {

bool is_field(Counter counter, AccessField field) {
    for (const AccessKind kind : access_kinds)
        if (counter == access_counter(kind, field)) return true;
    return false;
}

bool is_in_basic(const CounterMetrics& row) {
    return row.cost == MetricCost::base || is_field(row.counter, AccessField::sectors_per_request);
}

bool is_in(CounterSet set, const CounterMetrics& row) {
    switch (set) {
        case CounterSet::basic:
            return is_in_basic(row);
        case CounterSet::memory:
            return is_in_basic(row) || row.cost == MetricCost::instrumented ||
                   row.cost == MetricCost::derived || is_field(row.counter, AccessField::lines) ||
                   is_field(row.counter, AccessField::tag_wavefronts);
        case CounterSet::all:
            return row.cost != MetricCost::elsewhere;
    }
    return false;  // not reached
}

}  // namespace

std::optional<CounterSet> find_counter_set(std::string_view name) {
    if (name == "basic") return CounterSet::basic;
    if (name == "memory") return CounterSet::memory;
    if (name == "all") return CounterSet::all;
    return std::nullopt;
}

std::vector<Counter> counters_of(CounterSet set, AccessSet accesses) {
    std::vector<Counter> counters;
    for (const CounterMetrics& row : metric_table())
        if (row.concerns.meets(accesses) && is_in(set, row)) counters.push_back(row.counter);
    return counters;
}

}  // namespace coalprof
