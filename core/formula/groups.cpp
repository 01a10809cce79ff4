// Cooperative groups of pasted C: the block, and tiles of its threads.

#include <fmt/core.h>

#include "core/formula/lexer.h"
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

// After "<...>", and after a "{}" that may follow: cg::plus<float>{}
void FormulaReader::skip_template_arguments() {
    for (int depth = 0; token_.kind != TokenKind::end; advance()) {
        if (token_.is("<")) ++depth;
        if (token_.is(">") && --depth == 0) break;
    }
    advance_past_operand();
    if (!token_.is("{") || !peek().is("}")) return;
    advance();
    advance_past_operand();
}

// tiled_partition<32>(block)
ReadValue FormulaReader::read_tile() {
    const std::size_t begin = token_.at;
    advance();
    expect("<", "a tile is made by tiled_partition<32>(block)");
    const ReadValue threads = read_expression(least_power_of_sum);
    expect(">", "a tile is made by tiled_partition<32>(block)");
    read_arguments(1, "tiled_partition", "tiled_partition<32>(block)");
    ReadValue tile = group(begin);
    tile.tile = std::make_shared<const NodeTree>(whole(threads));
    return tile;
}

ReadValue FormulaReader::group(std::size_t begin) const {
    ReadValue value = data(begin, last_end_,
                           error(begin, "a group of threads is no number",
                                 "its numbers are thread_rank(), size() and meta_group_rank()"));
    value.is_group = true;
    return value;
}

// warp.thread_rank(), block.sync()
std::optional<ReadValue> FormulaReader::call_group(const Token& name) {
    const std::size_t dot = name.text.rfind('.');
    if (dot == name.text.npos) return std::nullopt;
    const ReadVariable* variable = find_variable_of_text(name.text.substr(0, dot));
    if (variable == nullptr || !variable->value.is_group) return std::nullopt;
    const ReadValue called = variable->value;
    advance();
    read_arguments(4, name.text, "f(a, b)");
    const std::string_view word = name.text.substr(dot + 1);
    if (word == "sync") {
        forget_loads();
        return group(name.at);
    }
    const auto of = [&](Variable which) {
        return leaf(NodeKind::variable, static_cast<std::int64_t>(which), name.at, last_end_);
    };
    const auto divided = [&](NodeKind kind, Variable which) {
        const NodeTree left = of(which);
        return number(called.tile
                          ? combined(kind, name.at, name.at, last_end_, {&left, &*called.tile})
                          : left,
                      name.at, last_end_);
    };
    if (word == "thread_rank") return divided(NodeKind::remainder, Variable::tid);
    if (word == "meta_group_rank") return divided(NodeKind::divide, Variable::tid);
    if (word == "meta_group_size") return divided(NodeKind::divide, Variable::bdim);
    if (word == "size" || word == "num_threads")
        return number(called.tile ? *called.tile : of(Variable::bdim), name.at, last_end_);
    return data(name.at, last_end_,
                error(name.at, fmt::format("what '{}' answers is not known", word),
                      "it depends on what other threads have"));
}

}  // namespace coalprof
