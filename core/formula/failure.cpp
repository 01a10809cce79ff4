#include "core/formula/failure.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/formula/complaint.h"

namespace coalprof {
namespace {

// "(1, 5)" of a number that is counted with x fastest, "9" in one dimension.
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

std::string what_fails(const ParsedFormula& formula, const ThreadValue& failed) {
    const std::string text = shown(formula.text_of(formula.nodes[failed.where]));
    switch (failed.fault) {
        case Fault::overflow:
            return fmt::format("'{}' does not fit 64 signed bits", text);
        case Fault::division_by_zero:
            return fmt::format("'{}' divides by zero", text);
        case Fault::shift_count:
            return fmt::format("'{}' shifts by a count that is not 0 to 63", text);
        case Fault::bucket_count:
            return fmt::format("'{}' needs at least 1 bucket", text);
        case Fault::misaligned:
            return fmt::format("the address of '{}' is no multiple of the width", text);
        case Fault::outside_table:
            return fmt::format("'{}' reads element {}, which its array does not hold", text,
                               failed.value);
        case Fault::negative_index:
            return fmt::format("the index '{}' is negative ({})", text, failed.value);
        case Fault::index_too_large:
            return fmt::format("the index '{}' is out of range ({})", text, failed.value);
        case Fault::none:
            break;
    }
    return fmt::format("'{}' fails", text);
}

std::string hint_for(Fault fault, std::int64_t largest_index) {
    switch (fault) {
        case Fault::overflow:
            return "use smaller numbers or a smaller --size; threads can be switched off: "
                   "a[index] if i < 1000";
        case Fault::division_by_zero:
            return "switch such threads off, e.g. a[i / k] if k != 0, or choose: k ? i / k : 0";
        case Fault::shift_count:
            return "a 64-bit number has bits 0 to 63: take the count % 64, or switch such threads "
                   "off with 'if'";
        case Fault::bucket_count:
            return "hash(x, buckets) answers 0 to buckets - 1, so buckets starts at 1";
        case Fault::misaligned:
            return "hardware refuses such an access: align it, e.g. &a[i * 4] for 4 elements at "
                   "once";
        case Fault::outside_table:
            return "switch such threads off, e.g. if (i < m), or give --array more elements";
        case Fault::negative_index:
            return "switch such threads off, e.g. a[i - 1] if i >= 1, or clamp: max(i - 1, 0)";
        case Fault::index_too_large:
            return fmt::format(
                "the largest index accepted is {}: wrap it with %, or choose a smaller --size",
                largest_index);
        case Fault::none:
            break;
    }
    return "";
}

}  // namespace

UsageError launch_failure(const ParsedFormula& formula, const Scope& scope, std::uint64_t thread,
                          const ThreadValue& failed, std::int64_t largest_index) {
    const Node& node = formula.nodes[failed.where];
    // An index out of range is wrong as a whole; an operator is wrong at its sign.
    const bool is_index =
        failed.fault == Fault::negative_index || failed.fault == Fault::index_too_large;
    return formula_error(
        formula.text, is_index ? node.begin : node.at,
        fmt::format("{}, first {}{}", what_fails(formula, failed), place_of(scope, thread),
                    values_below(formula, failed.where, scope, thread)),
        hint_for(failed.fault, largest_index));
}

}  // namespace coalprof
