#include "core/explain/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/count/launch_sum.h"
#include "core/count/predict.h"
#include "core/pattern/catalog.h"
#include "core/text/error.h"
#include "core/text/units.h"
#include "core/traffic/estimate.h"

namespace coalprof {
namespace {

struct Change {
    std::string text;
    Plan plan;
};

// Alternatives that touch less, one option each.
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
    if (plan.pattern == "transpose" && plan.options.variant != "swizzled") {
        if (plan.options.variant != "padded") change("--variant padded").options.variant = "padded";
        change("--variant swizzled").options.variant = "swizzled";
    }
    if (plan.pattern == "shared-pad" && plan.value == 0) change("a padding of 1 element").value = 1;
    if (plan.pattern == "shared-stride" && plan.value % 2 == 0)
        change(fmt::format("a stride of {} elements", plan.value + 1)).value = plan.value + 1;
    return changes;
}

// Totals of the launch that alternatives are compared by, the dearest first.
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

// Alternatives of one kind, of which one can be chosen.
using Choices = std::vector<Change>;
enum class Blocks : bool { may_change, stay };

std::vector<Choices> other_launches(const Plan& plan, Blocks blocks) {
    std::vector<Choices> all(3);
    const auto change = [&](std::size_t sort, std::string text) -> Plan& {
        return all[sort].emplace_back(Change{std::move(text), plan}).plan;
    };
    if (plan.cache.dlcm == LoadModifier::ca) change(2, "--dlcm cg").cache.dlcm = LoadModifier::cg;
    if (blocks == Blocks::stay) return all;
    for (const std::uint32_t elements : {2u, 4u, 8u})
        if (elements > plan.shape.per_thread)
            change(0, fmt::format("--per-thread {}", elements)).shape.per_thread = elements;
    if (!plan.shape.block_shape)
        for (const std::uint32_t threads : {128u, 256u, 512u, 1024u})
            if (threads != plan.shape.block)
                change(1, fmt::format("--block {}", threads)).shape.block = threads;
    return all;
}

// Both changes of `plan`, which are of different kinds.
Change both(const Plan& plan, const Change& one, const Change& other) {
    Change change{fmt::format("{} {}", one.text, other.text), one.plan};
    Plan& merged = change.plan;
    if (other.plan.shape.per_thread != plan.shape.per_thread)
        merged.shape.per_thread = other.plan.shape.per_thread;
    if (other.plan.shape.block != plan.shape.block) merged.shape.block = other.plan.shape.block;
    if (other.plan.cache.dlcm != plan.cache.dlcm) merged.cache.dlcm = other.plan.cache.dlcm;
    return change;
}

// The model's predictions for a launch.
struct Told {
    Readings readings;
    std::optional<LaunchTime> time;
};

Told told(const Plan& plan, const Machine& machine) {
    Told launch{Predictor(machine).predict_launch(plan, {}), std::nullopt};
    const auto estimates = add_estimates(machine, plan, CacheState::cold, launch.readings);
    const Interval* interval = estimates ? estimates->of(Counter::duration_seconds) : nullptr;
    if (interval && !estimates->limits.empty())
        launch.time = LaunchTime{
            {interval->low, number_in(launch.readings[Counter::duration_seconds]), interval->high},
            estimates->limits.front()};
    return launch;
}

// Builds the program of a plan whose shape or cache settings were changed. Throws UsageError.
using Build = std::function<Plan(const Plan&)>;

Plan with_program(Plan plan) {
    build_program(plan);
    return plan;
}

std::optional<Told> told_if_it_fits(const Plan& plan, const Machine& machine, const Build& build) {
    try {
        return told(build(plan), machine);
    } catch (const UsageError&) {  // not with this size, type or block
        return std::nullopt;
    }
}

bool is_likely_shorter(const Amount& one, const Amount& other) {
    constexpr Counter time = Counter::duration_seconds;
    return one.middle < other.middle && differ(one, other, noise_of(time, false)) >= Differ::likely;
}
bool is_shorter(const Told& one, const Told& other) {
    return one.time && other.time && is_likely_shorter(one.time->seconds, other.time->seconds);
}

// None: it saves nothing, or costs more of a more important counter.
std::optional<Advice> saving(const Change& change, const Told& before, const Told& after) {
    for (const Costs& costs : all_costs()) {
        const auto now = sum_of(before.readings, costs);
        const auto then = sum_of(after.readings, costs);
        if (!now || !then || *now == *then) continue;
        if (*then > *now) break;
        return Advice{change.text, costs.what, *now, *then, after.time};
    }
    return std::nullopt;
}

// The first that helps, unless a later one leaves less of the same.
std::optional<Advice> less_traffic(const Plan& plan, const Machine& machine, const Told& before) {
    std::optional<Advice> best;
    for (const Change& change : other_accesses(plan)) {
        const auto after = told_if_it_fits(change.plan, machine, with_program);
        if (!after || is_shorter(before, *after)) continue;
        const auto advice = saving(change, before, *after);
        if (advice && (!best || (advice->what == best->what && advice->after < best->after)))
            best = advice;
    }
    return best;
}

struct Shorter {
    Change change;
    LaunchTime time;
};

class Relaunches {
 public:
    Relaunches(const Plan& plan, const Machine& machine, const Told& before, Build build)
        : plan_(plan), machine_(machine), before_(before), build_(std::move(build)) {}

    std::optional<Advice> best(Blocks blocks) const {
        std::vector<Shorter> singles;  // the best of each sort
        for (const Choices& choices : other_launches(plan_, blocks))
            if (auto found = best_of(choices)) singles.push_back(std::move(*found));
        if (singles.empty()) return std::nullopt;
        Shorter best = *std::ranges::min_element(singles, {}, seconds_of);
        const Amount alone = best.time.seconds;
        for (std::size_t i = 0; i < singles.size(); ++i)
            for (std::size_t j = i + 1; j < singles.size(); ++j) {
                const auto pair = best_of({both(plan_, singles[i].change, singles[j].change)});
                if (pair && is_likely_shorter(pair->time.seconds, alone) &&
                    seconds_of(*pair) < seconds_of(best))
                    best = *pair;
            }
        return Advice{best.change.text, "", 0, 0, best.time};
    }

 private:
    static double seconds_of(const Shorter& shorter) { return shorter.time.seconds.middle; }

    std::optional<Shorter> best_of(const Choices& choices) const {
        std::optional<Shorter> best;
        for (const Change& change : choices) {
            const auto after = told_if_it_fits(change.plan, machine_, build_);
            if (!after || !is_shorter(*after, before_)) continue;
            if (!best || after->time->seconds.middle < seconds_of(*best))
                best = Shorter{change, *after->time};
        }
        return best;
    }

    const Plan& plan_;
    const Machine& machine_;
    const Told& before_;
    Build build_;
};

// Blocks stay where the formula's accesses may depend on them: where it names a thread's place in
// its block, or shares memory within one.
Blocks blocks_of(const FormulaSweep& sweep) {
    if (sweep.settings.launch.shape.grid) return Blocks::stay;
    const ParsedFormula formula = tree_of(sweep);
    const auto is_of_block = [](const Node& node) {
        if (node.kind != NodeKind::variable) return false;
        const auto variable = static_cast<Variable>(node.value);
        return variable != Variable::i && variable != Variable::n && variable != Variable::lane;
    };
    const auto is_shared = [](const FormulaAccess& access) {
        return access.space != Space::global;
    };
    const bool follows = std::ranges::any_of(formula.nodes, is_of_block) ||
                         std::ranges::any_of(formula.accesses, is_shared);
    return follows ? Blocks::stay : Blocks::may_change;
}

std::optional<Warning> too_large(const Plan& plan) {
    const std::uint64_t warps = warps_walked(plan.program);
    if (warps <= most_advised_warps) return std::nullopt;
    return Warning{"W-SAMPLED", "",
                   fmt::format("{} warps of the launch repeat no other, so its time and what would "
                               "make it cheaper are not computed for a drawing; the same pattern "
                               "without 'explain' predicts the time",
                               grouped(warps))};
}

}  // namespace

LaunchAdvice checked_advice(const Plan& plan, const Machine& machine) {
    if (const auto omitted = too_large(plan)) return {{}, {}, omitted};
    const Told before = told(plan, machine);
    LaunchAdvice advice{.time = before.time, .list = {}};
    for (auto found : {less_traffic(plan, machine, before),
                       Relaunches(plan, machine, before, with_program).best(Blocks::may_change)})
        if (found) advice.list.push_back(std::move(*found));
    return advice;
}

LaunchAdvice checked_advice(const FormulaSweep& sweep, const Machine& machine) {
    FormulaSweep single = sweep;
    single.settings.machines = {machine};
    const auto build = [&](const Plan& changed) {
        FormulaSweep other = single;
        other.settings.launch.shape = changed.shape;
        other.settings.launch.dlcm = changed.cache.dlcm;
        return FormulaPoints({other}).at(0).plan;
    };
    const Plan plan = FormulaPoints({single}).at(0).plan;
    if (const auto omitted = too_large(plan)) return {{}, {}, omitted};
    const Told before = told(plan, machine);
    LaunchAdvice advice{.time = before.time, .list = {}};
    if (auto found = Relaunches(plan, machine, before, build).best(blocks_of(single)))
        advice.list.push_back(std::move(*found));
    return advice;
}

}  // namespace coalprof
