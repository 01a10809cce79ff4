#include "core/formula/failure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/formula/complaint.h"

namespace coalprof {
namespace {

// "(1, 5)" for a number that is counted with x fastest, "9" in one dimension.
std::string place_in(const Dimensions& shape, std::uint64_t number) {
    if (shape.is_flat()) return fmt::format("{}", number);
    const std::uint64_t x = number % shape.x;
    const std::uint64_t y = number / shape.x;
    if (shape.z == 1) return fmt::format("({}, {})", x, y);
    return fmt::format("({}, {}, {})", x, y % shape.y, y / shape.y);
}

// "in thread 261 (block 1, tid 5)"
std::string place_of(const Scope& scope, std::uint64_t thread) {
    if (scope.blocks() == 1 && scope.block_shape.is_flat())
        return fmt::format("in thread {}", thread);
    return fmt::format("in thread {} (block {}, tid {})", thread,
                       place_in(scope.grid_shape, thread / scope.block),
                       place_in(scope.block_shape, thread % scope.block));
}

// "(i = 5, k = 0)": the names below the node, with their values in that thread.
std::string values_below(const ParsedFormula& formula, NodeId id, const Scope& scope,
                         std::uint64_t thread) {
    constexpr std::size_t most_names = 4;
    std::string values;
    std::vector<std::string_view> named;
    for (NodeId k = formula.nodes[id].first; k < id && named.size() < most_names; ++k) {
        const Node& node = formula.nodes[k];
        std::string_view name;
        if (node.kind == NodeKind::variable) {
            name = name_of(static_cast<Variable>(node.value));
        } else if (node.kind == NodeKind::parameter) {
            name = formula.parameters[static_cast<std::size_t>(node.value)];
        } else {
            continue;
        }
        if (std::find(named.begin(), named.end(), name) != named.end()) continue;
        named.push_back(name);
        const std::int64_t value = evaluate_thread(formula.nodes, k, scope, thread).value;
        values += fmt::format("{}{} = {}", values.empty() ? ", where " : ", ", name, value);
    }
    return values;
}

struct FaultText {
    const char* sentence;  // {0}: the text that fails, {1}: its value
    const char* hint;      // {0}: the largest index
};
// In the order of Fault, from overflow on.
constexpr std::array<FaultText, 8> fault_texts{{
    {"'{0}' does not fit 64 signed bits",
     "use smaller numbers or a smaller --size; threads can be switched off: a[index] if i < 1000"},
    {"'{0}' divides by zero",
     "switch such threads off, e.g. a[i / k] if k != 0, or choose: k ? i / k : 0"},
    {"'{0}' shifts by a count that is not 0 to 63",
     "a 64-bit number has bits 0 to 63: take the count % 64, or switch such threads off with 'if'"},
    {"'{0}' needs at least 1 bucket",
     "hash(x, buckets) answers 0 to buckets - 1, so buckets starts at 1"},
    {"the address of '{0}' is no multiple of the width",
     "hardware refuses such an access: align it, e.g. &a[i * 4] for 4 elements at once"},
    {"'{0}' reads element {1}, which its array does not hold",
     "switch such threads off, e.g. if (i < m), or give --array more elements"},
    {"the index '{0}' is negative ({1})",
     "switch such threads off, e.g. a[i - 1] if i >= 1, or clamp: max(i - 1, 0)"},
    {"the index '{0}' is out of range ({1})",
     "the largest index accepted is {0}: wrap it with %, or choose a smaller --size"},
}};
static_assert(fault_texts.size() == static_cast<std::size_t>(Fault::index_too_large));

}  // namespace

UsageError launch_failure(const ParsedFormula& formula, const Scope& scope, std::uint64_t thread,
                          const ThreadValue& failed, std::int64_t largest_index) {
    const Node& node = formula.nodes[failed.where];
    const FaultText& text = fault_texts[static_cast<std::size_t>(failed.fault) - 1];
    // For an index out of range the whole is marked; for an operator its sign.
    const bool is_index =
        failed.fault == Fault::negative_index || failed.fault == Fault::index_too_large;
    return formula_error(
        formula.text, is_index ? node.begin : node.at,
        fmt::format(
            "{}, first {}{}",
            fmt::format(fmt::runtime(text.sentence), shown(formula.text_of(node)), failed.value),
            place_of(scope, thread), values_below(formula, failed.where, scope, thread)),
        fmt::format(fmt::runtime(text.hint), largest_index));
}

}  // namespace coalprof
