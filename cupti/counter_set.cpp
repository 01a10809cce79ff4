#include "cupti/counter_set.h"

namespace coalprof {
namespace {

Access access_of(const Instruction& instruction) {
    const bool is_load = instruction.kind == AccessKind::load;
    switch (instruction.space) {
        case Space::global:
            if (is_load && instruction.path == LoadPath::tex) return Access::texture_load;
            return static_cast<Access>(instruction.kind);
        case Space::shared:
            return is_load ? Access::shared_load : Access::shared_store;
        case Space::constant:
            return Access::constant_load;
        case Space::local:
            return is_load ? Access::local_load : Access::local_store;
    }
    return Access::global_load;  // not reached: the switch is complete
}

static_assert(static_cast<int>(AccessKind::load) == static_cast<int>(Access::global_load) &&
              static_cast<int>(AccessKind::reduce) == static_cast<int>(Access::global_reduce));

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

AccessSet accesses_of(const Program& program) {
    AccessSet accesses;
    for (const Instruction& instruction : program.instructions)
        accesses.add(access_of(instruction));
    return accesses;
}

std::vector<Counter> counters_of(CounterSet set, AccessSet accesses) {
    std::vector<Counter> counters;
    for (const CounterMetrics& row : metric_table())
        if (row.concerns.meets(accesses) && is_in(set, row)) counters.push_back(row.counter);
    return counters;
}

}  // namespace coalprof
