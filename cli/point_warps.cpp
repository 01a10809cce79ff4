#include "cli/point_warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cli/formula_options.h"
#include "cli/sweep_options.h"
#include "core/explain/launch_sample.h"
#include "core/explain/launch_warps.h"
#include "core/machine/machine.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// A page has many points, and their first warps tell what sort is common.
constexpr std::uint64_t most_looked_at = 256;

// Parameters of points that are no variables of a formula.
constexpr std::array<std::string_view, 19> launch_keys{
    "type",   "op",      "block", "per_thread", "size_bytes", "grid",  "machine",
    "device", "dlcm",    "dscm",  "carveout",   "l2_fetch",   "alloc", "path",
    "l1_kib", "formula", "name",  "pitch",      "failure"};

// What the options of the launch were: what the point says, else what the head says of all points.
class Typed {
 public:
    Typed(const ResultHead& head, const NamedValues& parameters)
        : facts_(values_of(head.sweep)), parameters_(parameters) {}

    std::string text(std::string_view key) const {
        const Value* value = find_value(parameters_, key);
        if (!value) value = find_value(facts_, key);
        return value ? text_of(*value) : "";
    }
    void set(std::string_view key, std::string& option) const {
        if (std::string typed = text(key); !typed.empty()) option = std::move(typed);
    }
    // "32x8" where there are dimensions.
    void set_dimensions(std::string_view key, std::string& option) const {
        set(key, option);
        const std::string name(key);
        const std::string x = text(name + "_x");
        if (x.empty() || find_value(parameters_, key)) return;
        option = fmt::format("{}x{}x{}", x, text(name + "_y"), text(name + "_z"));
    }

 private:
    NamedValues facts_;
    const NamedValues& parameters_;
};

SweepOptions options_of(const Typed& typed) {
    SweepOptions options;
    typed.set("type", options.type);
    typed.set("op", options.op);
    typed.set_dimensions("block", options.block);
    typed.set_dimensions("grid", options.grid);
    typed.set("per_thread", options.per_thread);
    if (const std::string bytes = typed.text("size_bytes"); !bytes.empty() && options.grid.empty())
        options.size = bytes + "B";
    typed.set("variant", options.variant);
    typed.set("order", options.order);
    typed.set("seed", options.seed);
    typed.set("member", options.member);
    typed.set("tile", options.tile);
    return options;
}

std::optional<Plan> plan_of_pattern(const ResultHead& head, const NamedValues& parameters,
                                    const Machine& machine) {
    const PatternInfo& pattern = find_pattern(head.sweep.pattern);
    const Value* value = find_value(parameters, pattern.parameter);
    const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
    if (!number || *number < 0) return std::nullopt;
    Sweep sweep = options_of({head, parameters}).sweep_of(pattern);
    sweep.values = {static_cast<std::uint64_t>(*number)};
    sweep.values_unit = ValueUnit::of_parameter;
    sweep.machines = {machine};
    return SweepPoints(std::move(sweep)).at(0).plan;
}

constexpr std::size_t most_drawn = 32;

std::optional<Plan> plan_of_formula(const ResultHead& head, const NamedValues& parameters,
                                    const Machine& machine) {
    constexpr std::size_t most_text = 500;  // of what takes long to evaluate there would be many
    if (head.sweep.formula.empty() || head.sweep.formula.size() > most_text ||
        !head.sweep.file.empty())
        return std::nullopt;
    SweepOptions options = options_of({head, parameters});
    if (options.op.find_first_of("+.") != std::string::npos) options.op.clear();  // the text has it
    FormulaOptions formula;
    formula.text = head.sweep.formula;
    for (const auto& [key, value] : parameters)
        if (std::find(launch_keys.begin(), launch_keys.end(), key) == launch_keys.end())
            formula.variables.push_back(fmt::format("{}={}", key, text_of(value)));
    FormulaSweep sweep = sweep_of(formula, options);
    sweep.settings.machines = {machine};
    return FormulaPoints({sweep}).at(0).plan;
}

std::optional<Plan> plan_of_point(const ResultHead& head, const NamedValues& parameters,
                                  const Machine& machine) {
    return head.sweep.pattern == "formula" ? plan_of_formula(head, parameters, machine)
                                           : plan_of_pattern(head, parameters, machine);
}

}  // namespace

std::optional<PointWarp> find_point_warp(const ResultHead& head, const NamedValues& parameters) {
    try {
        const Value* named = find_value(parameters, "machine");
        const Machine machine = find_machine(named ? text_of(*named) : head.machine.name);
        const std::optional<Plan> plan = plan_of_point(head, parameters, machine);
        if (!plan) return std::nullopt;
        const Program& program = plan->program;
        if (program.instructions.size() > most_drawn) return std::nullopt;  // rounds of a loop
        PointWarp warp{.index = sample_of(program, machine, most_looked_at).common,
                       .instructions = {}};
        const LaunchWarp chosen = warp_at(program, warp.index);
        for (const Instruction& one : program.instructions)
            if (one.space == Space::global)
                warp.instructions.push_back(
                    {fmt::format("{} {}", name_of(one.kind), program.arrays[one.array].name),
                     access_of_warp(program, {}, one, chosen.first_thread, chosen.lanes)});
        if (warp.instructions.empty()) return std::nullopt;
        return warp;
    } catch (const Error&) {  // a result of another version, or with no such pattern
        return std::nullopt;
    }
}

}  // namespace coalprof
