#include "cli/point_warps.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/formula_options.h"
#include "cli/sweep_options.h"
#include "core/explain/launch_sample.h"
#include "core/machine/machine.h"
#include "core/sweep/sweep.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// A page has many points, and their first warps show which shape is common.
constexpr std::uint64_t most_looked_at = 256;

// The options of the launch: from the point, else from the head, which holds for all points.
class Typed {
 public:
    Typed(const ResultHead& head, const NamedValues& parameters)
        : facts_(values_of(head.sweep)), parameters_(parameters) {}

    std::string text(std::string_view key) const {
        const Value* value = find_value(parameters_, key);
        if (!value) value = find_value(facts_, key);
        return value ? text_of(*value) : "";
    }
    // "32x8" where there are dimensions.
    std::string dimensions(std::string_view key) const {
        const std::string name(key);
        const std::string x = text(name + "_x");
        if (x.empty() || find_value(parameters_, key)) return text(key);
        return fmt::format("{}x{}x{}", x, text(name + "_y"), text(name + "_z"));
    }

 private:
    NamedValues facts_;
    const NamedValues& parameters_;
};

// The way in which memory is accessed changes no address.
SweepOptions options_of(const Typed& typed, bool of_pattern) {
    SweepOptions options;
    for (const LaunchOption& option : launch_options())
        if (option.group == OptionGroup::launch ||
            (of_pattern && option.group == OptionGroup::pattern))
            options.typed[option.key] = typed.dimensions(option.key);
    std::string& size = options.typed["size_bytes"];
    if (!options.typed["grid"].empty()) size.clear();  // it follows
    if (!size.empty()) size += 'B';
    return options;
}

std::optional<Plan> plan_of_pattern(const ResultHead& head, const NamedValues& parameters,
                                    const Machine& machine) {
    const PatternInfo& pattern = find_pattern(head.sweep.pattern);
    const Value* value = find_value(parameters, pattern.parameter);
    const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
    if (!number || *number < 0) return std::nullopt;
    Sweep sweep = options_of({head, parameters}, true).sweep_of(pattern);
    sweep.values = {static_cast<std::uint64_t>(*number)};
    sweep.values_unit = ValueUnit::of_parameter;
    sweep.machines = {machine};
    return SweepPoints(std::move(sweep)).at(0).plan;
}

constexpr std::size_t most_drawn = 32;

std::optional<Plan> plan_of_formula(const ResultHead& head, const NamedValues& parameters,
                                    const Machine& machine) {
    constexpr std::size_t most_text = 500;  // longer formulas take long to evaluate
    if (head.sweep.formula.empty() || head.sweep.formula.size() > most_text ||
        !head.sweep.file.empty())
        return std::nullopt;
    SweepOptions options = options_of({head, parameters}, false);
    std::string& op = options.typed["op"];
    if (op.find_first_of("+.") != std::string::npos) op.clear();  // the text has it
    FormulaOptions formula;
    formula.text = head.sweep.formula;
    for (const auto& [key, value] : parameters)
        if (!is_taken_name(key))
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
