// A formula in a launch whose shape the first bytes give: refused with a printable error, or a
// program whose every index lies in its array, repeats as its period says, and is the same thread
// by thread, as a plain reading of the text has it.
#include <algorithm>
#include <array>

#include "core/formula/formula.h"
#include "core/formula/launch_check.h"
#include "core/formula/user_formula.h"
#include "core/text/error.h"
#include "fuzz/claim.h"
#include "fuzz/plain_formula.h"

namespace {

using namespace coalprof;
using fuzz::claim;

constexpr std::size_t header_bytes = 4;

FormulaLaunch launch_from(const std::uint8_t* header) {
    constexpr std::array ops{Op::load, Op::store,  Op::rmw,   Op::copy,
                             Op::add,  Op::atomic, Op::reduce};
    constexpr std::array types{ElementType::u8, ElementType::f32, ElementType::u64,
                               ElementType::f32x4};
    FormulaLaunch launch;
    launch.op = ops[header[0] % ops.size()];
    launch.type = types[header[0] / 16 % types.size()];
    launch.shape.block = 1 + header[1];
    if (header[1] % 4 == 3 && header[2] % 3 == 0)
        launch.shape.block_shape = {(1u + header[1]) / 4, 2, 2};
    if (header[2] % 5 != 0)
        launch.shape.grid = {header[2] % 5u, 1u + header[2] / 16 % 3, 1u + header[2] / 64};
    launch.shape.size_bytes = (1 + std::uint64_t{header[3]} * 8) * bytes_of(launch.type);
    launch.values = {header[1], header[2]};
    return launch;
}

void claim_bounded(const ParsedFormula& formula) {
    claim(formula.nodes.size() <= max_formula_nodes, "nodes are bounded");
    claim(formula.accesses.size() <= max_formula_accesses, "instructions are bounded");
    for (std::size_t id = 0; id < formula.nodes.size(); ++id) {
        const Node& node = formula.nodes[id];
        claim(node.depth <= max_formula_depth, "depth is bounded");
        for (std::size_t k = 0; k < child_count(node.kind); ++k)
            claim(node.children[k] < id && node.first <= node.children[k], "children come first");
    }
}

void claim_element(const UserFormula& formula, std::uint64_t thread, std::uint64_t element) {
    const auto& nodes = formula.formula().nodes;
    const FormulaAccess& access = formula.access();
    if (access.condition) {
        const ThreadValue test = evaluate_thread(nodes, *access.condition, formula.scope(), thread);
        claim(test.fault == Fault::none, "an accepted condition fails in no thread");
        claim((test.value == 0) == (element == idle_lane), "idle where the condition is zero");
        if (test.value == 0) return;
    }
    const ThreadValue index = evaluate_thread(nodes, access.index, formula.scope(), thread);
    claim(index.fault == Fault::none, "an accepted index fails in no thread");
    claim(static_cast<std::uint64_t>(index.value) == element, "lanes compute what threads do");
}

// The text of the access, read once more by other code. Every thread of it would take too long.
void claim_plain(const UserFormula& formula, std::uint64_t thread, std::uint64_t element) {
    const ParsedFormula& parsed = formula.formula();
    const FormulaAccess& access = formula.access();
    // Conditions of && and ?:, or of a whole statement, stand outside the access's text.
    if (access.condition && access.condition_end != access.end) return;
    const Scope& scope = formula.scope();
    const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    fuzz::PlainFormula::Values values{{"i", number(thread)}, {"n", number(scope.threads)}};
    for (std::size_t k = 0; k < parsed.parameters.size(); ++k)
        values[parsed.parameters[k]] = scope.values[k];
    if (scope.block_shape.x == scope.block) {  // else these go by rows
        const std::uint64_t tid = thread % scope.block;
        values["tid"] = number(tid);
        values["lane"] = number(tid % 32);
        values["warp"] = number(tid / 32);
        values["bid"] = number(thread / scope.block);
        values["bdim"] = scope.block;
    }
    try {
        const std::string_view text =
            std::string_view(parsed.text).substr(access.begin, access.end - access.begin);
        const auto answer = fuzz::PlainFormula(text, values).answer();
        if (!answer) return;
        claim(answer->is_idle == (element == idle_lane), "idle as the text says");
        claim(answer->is_idle || answer->index == number(element), "the index that the text says");
    } catch (const fuzz::PlainFormula::Failed&) {
        claim(false, "an accepted text fails in no thread");
    }
}

// Whether `later` is `element` moved on, or both are idle.
bool is_moved(std::uint64_t element, std::uint64_t later, std::uint64_t advance) {
    if (element == idle_lane || later == idle_lane) return element == later;
    return later == element + advance;
}

void claim_period(const Period& period, const std::vector<std::uint64_t>& elements) {
    for (std::uint64_t i = 0; i + period.threads < elements.size(); ++i)
        claim(is_moved(elements[i], elements[i + period.threads], period.advance),
              "the period holds");
    if (period.inner_threads == 0) return;
    for (std::uint64_t i = 0; i + period.inner_threads < elements.size(); ++i)
        if (i / period.threads == (i + period.inner_threads) / period.threads)
            claim(is_moved(elements[i], elements[i + period.inner_threads], period.inner_advance),
                  "the period within the period holds");
}

// Of copy and add one array goes by thread, whatever the text says.
bool goes_by_text(Op op) { return op != Op::copy && op != Op::add; }

void claim_program(const Program& program, Op op) {
    for (const Instruction& instruction : program.instructions) {
        const auto& formula = dynamic_cast<const UserFormula&>(*instruction.formula);
        std::vector<std::uint64_t> elements(program.threads);
        for (std::uint64_t first = 0; first < program.threads; first += warp_lanes)
            formula.evaluate(first,
                             static_cast<std::uint32_t>(
                                 std::min<std::uint64_t>(warp_lanes, program.threads - first)),
                             elements.data() + first);
        for (std::uint64_t thread = 0; thread < program.threads; ++thread) {
            const bool is_inside = elements[thread] < program.arrays[instruction.array].elements;
            claim(is_inside || elements[thread] == idle_lane, "indices lie in their array");
            claim_element(formula, thread, elements[thread]);
            if (!goes_by_text(op)) continue;
            if (thread < 3 || thread % 61 == 0 || thread + 1 == program.threads)
                claim_plain(formula, thread, elements[thread]);
        }
        if (const auto period = formula.period()) claim_period(*period, elements);
        claim(formula.functor("Pattern").source.size() < 200'000, "the emitted source is bounded");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < header_bytes) return 0;
    const std::string_view text = fuzz::text_of(data + header_bytes, size - header_bytes);
    try {
        const auto formula =
            std::make_shared<const ParsedFormula>(parse_formula(text, {"k", "pitch"}));
        claim_bounded(*formula);
        const FormulaLaunch launch = launch_from(data);
        claim_program(make_formula_program(formula, launch), launch.op);
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
    }
    return 0;
}
