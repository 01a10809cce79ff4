#include "core/explain/advice.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "core/model/predict.h"
#include "core/pattern/catalog.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

struct Change {
    std::string text;
    Plan plan;
};

// What a programmer could do instead, one option each.
std::vector<Change> changes_of(const Plan& plan) {
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
    if (plan.pattern == "transpose" && plan.options.variant != "padded") {
        Plan& padded = change("--variant padded");
        padded.options.variant = "padded";
    }
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

std::optional<Readings> predicted(Plan plan, const Predictor& predictor) {
    try {
        build_program(plan);
        return predictor.predict_launch(plan, {});
    } catch (const UsageError&) {  // it does not fit this size or type
        return std::nullopt;
    }
}

}  // namespace

std::optional<Advice> checked_advice(const Plan& plan, const Machine& machine) {
    const std::vector<Change> changes = changes_of(plan);
    if (changes.empty()) return std::nullopt;
    const Predictor predictor(machine);
    const Readings before = predictor.predict_launch(plan, {});
    for (const Change& change : changes) {
        const auto after = predicted(change.plan, predictor);
        if (!after) continue;
        for (const Costs& costs : all_costs()) {
            const auto now = sum_of(before, costs);
            const auto then = sum_of(*after, costs);
            if (!now || !then || *now == *then) continue;
            if (*then > *now) break;  // dearer in what matters more
            return Advice{change.text, costs.what, *now, *then};
        }
    }
    return std::nullopt;
}

}  // namespace coalprof
