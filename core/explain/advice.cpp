#include "core/explain/advice.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/model/predict.h"
#include "core/pattern/catalog.h"
#include "core/text/error.h"
#include "core/traffic/estimate.h"

namespace coalprof {
namespace {

struct Change {
    std::string text;
    Plan plan;
};

// What a programmer could do instead to touch less, one option each.
std::vector<Change> other_accesses(const Plan& plan) {
    std::vector<Change> changes;
    const auto change = [&](std::string text) -> Plan& {
        return changes.emplace_back(Change{std::move(text), plan}).plan;
    };
    const std::uint64_t per_sector = sector_bytes / bytes_of(plan.type);
    if ((plan.pattern == "row" || plan.pattern == "column") && plan.options.pitch != "auto")
        change("--pitch auto").options.pitch = "auto";
    if (plan.pattern == "offset" && plan.value % per_sector != 0) {
        const std::uint64_t aligned = (plan.value + per_sector - 1) / per_sector * per_sector;
        change(fmt::format("an offset of {} elements", aligned)).value = aligned;
    }
    if (plan.pattern == "stride" && plan.value != 1)
        change("elements side by side, a stride of 1").value = 1;
    if (plan.pattern == "aos") change("an array for each member, `coalprof soa`").pattern = "soa";
    if (plan.pattern == "transpose" && plan.options.variant != "padded")
        change("--variant padded").options.variant = "padded";
    if (plan.pattern == "shared-pad" && plan.value == 0) change("a padding of 1 element").value = 1;
    if (plan.pattern == "shared-stride" && plan.value % 2 == 0)
        change(fmt::format("a stride of {} elements", plan.value + 1)).value = plan.value + 1;
    return changes;
}

// Totals of the launch by what they are compared by, the dearest first.
struct Costs {
    std::string what;
    std::vector<Counter> counters;
};
const std::vector<Costs>& all_costs() {
    const auto of_fields = [](std::string what, AccessField field) {
        Costs costs{std::move(what), {}};
        for (const AccessKind kind : access_kinds)
            costs.counters.push_back(access_counter(kind, field));
        return costs;
    };
    static const std::vector<Costs> costs{
        of_fields("sectors", AccessField::sectors),
        of_fields("transactions", AccessField::transactions),
        of_fields("lines", AccessField::lines),
        {"passes through shared memory",
         {Counter::shared_load_wavefronts, Counter::shared_store_wavefronts}}};
    return costs;
}

// None where a part of it is not known.
std::optional<std::uint64_t> sum_of(const Readings& readings, const Costs& costs) {
    std::uint64_t sum = 0;
    for (const Counter counter : costs.counters) {
        const Reading& reading = readings[counter];
        if (!is_present(reading)) continue;
        const auto* number = std::get_if<std::uint64_t>(&reading);
        if (!number) return std::nullopt;
        sum += *number;
    }
    return sum;
}

// The same accesses, launched otherwise.
std::vector<Change> other_launches(const Plan& plan) {
    std::vector<Change> changes;
    const auto change = [&](std::string text) -> Plan& {
        return changes.emplace_back(Change{std::move(text), plan}).plan;
    };
    for (const std::uint32_t elements : {2u, 4u, 8u})
        if (elements > plan.shape.per_thread)
            change(fmt::format("--per-thread {}", elements)).shape.per_thread = elements;
    if (!plan.shape.block_shape)
        for (const std::uint32_t threads : {128u, 256u, 512u, 1024u})
            if (threads != plan.shape.block)
                change(fmt::format("--block {}", threads)).shape.block = threads;
    if (plan.cache.dlcm == LoadModifier::ca) change("--dlcm cg").cache.dlcm = LoadModifier::cg;
    return changes;
}

// A launch as the model sees it.
struct Told {
    Readings readings;
    std::optional<LaunchTime> time;
};

Told told(const Plan& plan, const Machine& machine) {
    Told launch{Predictor(machine).predict_launch(plan, {}), std::nullopt};
    const auto estimates = add_estimates(machine, plan, CacheState::cold, launch.readings);
    const Interval* interval = estimates ? estimates->of(Counter::duration_seconds) : nullptr;
    if (interval && !estimates->limits.empty())
        launch.time = LaunchTime{number_in(launch.readings[Counter::duration_seconds]),
                                 interval->low, interval->high, estimates->limits.front()};
    return launch;
}

std::optional<Told> told_if_it_fits(Plan plan, const Machine& machine) {
    try {
        build_program(plan);
        return told(plan, machine);
    } catch (const UsageError&) {  // not with this size, type or block
        return std::nullopt;
    }
}

// Whether it takes less time by more than its own interval.
bool is_shorter(const Told& launch, const Told& before) {
    return launch.time && before.time && launch.time->high_seconds < before.time->seconds;
}
bool is_longer(const Told& launch, const Told& before) {
    return launch.time && before.time && launch.time->seconds > before.time->high_seconds;
}

std::optional<Advice> less_traffic(const Plan& plan, const Machine& machine, const Told& before) {
    for (const Change& change : other_accesses(plan)) {
        const auto after = told_if_it_fits(change.plan, machine);
        if (!after || is_longer(*after, before)) continue;
        for (const Costs& costs : all_costs()) {
            const auto now = sum_of(before.readings, costs);
            const auto then = sum_of(after->readings, costs);
            if (!now || !then || *now == *then) continue;
            if (*then > *now) break;  // dearer in what matters more
            return Advice{change.text, costs.what, *now, *then, after->time};
        }
    }
    return std::nullopt;
}

std::optional<Advice> less_time(const Plan& plan, const Machine& machine, const Told& before) {
    std::optional<Advice> best;
    for (const Change& change : other_launches(plan)) {
        const auto after = told_if_it_fits(change.plan, machine);
        if (!after || !is_shorter(*after, before)) continue;
        if (best && after->time->seconds >= best->time->seconds) continue;
        best = Advice{change.text, "", 0, 0, after->time};
    }
    return best;
}

}  // namespace

LaunchAdvice checked_advice(const Plan& plan, const Machine& machine) {
    const Told before = told(plan, machine);
    LaunchAdvice advice{before.time, {}};
    for (auto found : {less_traffic(plan, machine, before), less_time(plan, machine, before)})
        if (found) advice.list.push_back(std::move(*found));
    return advice;
}

std::optional<LaunchTime> launch_time(const Plan& plan, const Machine& machine) {
    return told(plan, machine).time;
}

}  // namespace coalprof
