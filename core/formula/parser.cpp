#include <fmt/core.h>

#include "core/formula/complaint.h"
#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"

namespace coalprof {

ParsedFormula read_formula(std::string_view text, const FormulaContext& context, ElementType type) {
    if (text.size() > max_formula_bytes)
        throw formula_error(text.substr(0, max_formula_bytes), max_formula_bytes,
                            fmt::format("longer than {} characters", max_formula_bytes),
                            "measure its parts in several formulas");
    for (const std::string& name : context.parameters) require_parameter_name(name);
    const auto kept = std::make_shared<const FormulaContext>(context);
    ParsedFormula formula = FormulaReader(text, *kept, {.type = type}).read();
    formula.source = text;
    formula.context = kept;
    return formula;
}

ParsedFormula parse_formula(std::string_view text, const std::vector<std::string>& parameters) {
    FormulaContext context;
    context.parameters = parameters;
    return read_formula(text, context);
}

ParsedFormula for_launch(const ParsedFormula& formula, const Scope& scope, ElementType type) {
    ParsedFormula settled =
        FormulaReader(formula.source, *formula.context, {.scope = &scope, .type = type}).read();
    settled.source = formula.source;
    settled.context = formula.context;
    return settled;
}

void require_parameter_name(std::string_view name) {
    if (name == "n") return;  // kernels have a separate size
    const std::string reason = reason_against_name(name);
    if (!reason.empty())
        throw UsageError(fmt::format("--var: '{}' cannot be a parameter: {}", shown(name), reason));
}

}  // namespace coalprof
