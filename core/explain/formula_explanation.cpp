#include "core/explain/formula_explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/describe.h"

namespace coalprof {
namespace {

// "op load" where --op decides the operation of some access.
bool depends_on_op(const FormulaSweep& sweep) {
    const ParsedFormula parsed = tree_of(sweep);
    return std::any_of(parsed.accesses.begin(), parsed.accesses.end(),
                       [](const FormulaAccess& access) { return !access.kind; });
}

std::string settings_of(const FormulaSweep& sweep, const Plan& plan) {
    std::string text = fmt::format("type {}", types_of(sweep));
    if (depends_on_op(sweep)) text = fmt::format("op {}, {}", name_of(plan.op), text);
    if (plan.shape.grid) text += fmt::format(", grid {}", text_of(*plan.shape.grid));
    if (plan.shape.block_shape)
        text += fmt::format(", blocks of {}", text_of(*plan.shape.block_shape));
    else if (plan.shape.block != LaunchShape{}.block)
        text += fmt::format(", blocks of {}", plan.shape.block);
    if (plan.shape.per_thread != 1)
        text += fmt::format(", {} elements per thread", plan.shape.per_thread);
    return text;
}

}  // namespace

Explanation explanation_of(const FormulaSweep& sweep, const Machine& machine,
                           std::optional<std::uint64_t> warp) {
    FormulaSweep single = sweep;
    single.settings.machines = {machine};
    const PlannedPoint point = FormulaPoints({single}).at(0);
    Explanation explanation = explanation_of(point.plan, machine, warp);
    if (!point.parameters.empty()) explanation.name = fmt::format("formula {}", point.name);
    std::string text = sweep.text;
    std::ranges::replace(text, '\n', ' ');
    explanation.formula = printable(text);
    explanation.settings = settings_of(sweep, point.plan);
    explanation.sweep = values_of(describe_sweep(single));
    explanation.sweep.insert(explanation.sweep.end(), point.parameters.begin(),
                             point.parameters.end());
    return explanation;
}

}  // namespace coalprof
