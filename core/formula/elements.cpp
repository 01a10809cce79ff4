// Elements of arrays, and the loads that follow from expressions.
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

NodeId root_of(const NodeTree& tree) { return static_cast<NodeId>(tree.size() - 1); }

}  // namespace

const DeclaredArray* FormulaReader::find_array(std::string_view name) const {
    const auto found = std::ranges::find(context_.arrays, name, &DeclaredArray::name);
    return found != context_.arrays.end() ? &*found : nullptr;
}

bool FormulaReader::is_fortran_array(std::string_view name) const {
    const DeclaredArray* array = find_array(name);
    return array != nullptr && array->is_fortran;
}

// A[i/512][i%512] for the element `index` of a C array, counted through all of its rows.
std::string FormulaReader::access_of(const DeclaredArray& array, std::string_view index) const {
    const bool is_name = std::ranges::all_of(index, is_name_char);
    const std::string whole = is_name ? std::string(index) : fmt::format("({})", index);
    const std::size_t dimensions = std::max<std::size_t>(array.extents.size(), 1);
    std::string text = array.name;
    for (std::size_t k = 0; k < dimensions; ++k) {
        // The fastest is the last one in C, the first one in Fortran.
        std::uint64_t below = 1;
        for (std::size_t j = 0; j < dimensions; ++j)
            if (array.is_fortran ? j < k : j > k) below *= array.extents[j];
        std::string one = below == 1 && dimensions == 1 ? std::string(index) : whole;
        if (below > 1) one += fmt::format("/{}", below);
        if (k != (array.is_fortran ? dimensions - 1 : 0))
            one += fmt::format("%{}", array.extents[k]);
        text += array.is_fortran ? fmt::format("{}{} + 1", k == 0 ? "(" : ", ", one)
                                 : fmt::format("[{}]", one);
    }
    return array.is_fortran ? text + ")" : text;
}

// array[index]; of several dimensions y*width + x, by the distances of neighbours.
ReadValue FormulaReader::element(const ReadValue& array, ReadValue index, std::size_t at) {
    if (!array.is(Kind::rows) || !reason_against_name(array.array).empty()) {
        const std::string name = shown(text_of(array.span));
        const std::string reason = reason_against_name(name);
        throw error(array.span.begin, fmt::format("'{}' cannot be an array", name),
                    reason.empty() ? fmt::format("it is a number (column {})", at + 1)
                                   : reason + ": call it a, b, table, ...");
    }
    ReadValue result = array;
    result.span.end = last_end_;
    result.index = array.indices == 0 ? index.span : TextSpan{};
    NodeTree tree = whole(index, trees_);
    const DeclaredArray* declared = find_array(array.array);
    const std::size_t dimensions =
        declared != nullptr ? std::max<std::size_t>(declared->extents.size(), 1) : 1;
    if (declared != nullptr && array.indices < declared->extents.size()) {
        if (declared->is_fortran) tree = trees_.with_number(NodeKind::subtract, tree, 1);
        result.within.emplace_back(tree, declared->extents[array.indices]);
        const auto stride = static_cast<std::int64_t>(declared->strides[array.indices]);
        if (stride != 1) tree = trees_.with_number(NodeKind::multiply, tree, stride);
    }
    if (array.indices > 0)
        tree = trees_.combined(NodeKind::add, at, result.span, {&array.tree, &tree});
    result.tree = std::move(tree);
    if (++result.indices == dimensions) {
        result.kind = Kind::element;
    } else {
        const bool is_one = result.indices == 1 && !declared->is_fortran;
        result.why = std::make_shared<const UsageError>(error(
            array.span.begin,
            fmt::format("'{}' has {} indices, and {} {} given", declared->name, dimensions,
                        result.indices, result.indices == 1 ? "was" : "were"),
            fmt::format("write {}", access_of(*declared, is_one ? text_of(index.span) : "i"))));
    }
    return result;
}

// What an element holds, where --array says it.
ReadValue FormulaReader::value_of_load(const ReadValue& element) const {
    const DeclaredArray* declared = find_array(element.array);
    const TextSpan span = element.span;
    const auto literal = [&](std::uint64_t value) {
        return leaf(NodeKind::literal, static_cast<std::int64_t>(value), span);
    };
    using Rule = DeclaredArray::Rule;
    const Rule rule = declared != nullptr ? declared->rule : Rule::none;
    if (rule == Rule::iota) return number_value(element.tree, span);
    if (rule == Rule::zeros) return number_value(literal(0), span);
    if (rule == Rule::random) {
        std::uint64_t count = 1;
        for (const std::uint64_t extent : declared->extents) count *= extent;  // at most 2^40
        const NodeTree buckets = literal(count);
        const NodeTree seed = literal(declared->seed);
        return number_value(
            trees_.combined(NodeKind::hash, span.begin, span, {&element.tree, &buckets, &seed}),
            span);
    }
    if (declared != nullptr && declared->values)
        return number_value(trees_.combined(NodeKind::lookup, span.begin, span, {&element.tree},
                                            declared - context_.arrays.data()),
                            span);
    return data_value(
        span,
        error(span.begin, fmt::format("the value of {}[...] is not known", shown(element.array)),
              fmt::format("say what it holds: --array {0}=@{0}.npy, or {0}=i32[1000]=random; "
                          "or give it an instruction of its own: load: {0}[i]; "
                          "load: a[i*4]",
                          shown(element.array))));
}

ReadValue FormulaReader::loaded(ReadValue value) {
    if (value.is(Kind::rows) && value.indices > 0) throw *value.why;
    if (!value.is(Kind::element)) return value;
    ++loads_read_;
    for (const KnownElement& known : known_)
        if (known.array == value.array && known.guards.size() <= guards_.size() &&
            std::ranges::equal(known.guards, std::span(guards_).first(known.guards.size()), {}, {},
                               &Guard::number) &&
            is_same_subtree(known.index, root_of(known.index), value.tree, root_of(value.tree)))
            return known.value;
    add_access(AccessKind::load, value);
    ReadValue result = value_of_load(value);
    remember(value, result);
    return result;
}

// It is known under the guards that are active now.
void FormulaReader::remember(const ReadValue& element, const ReadValue& value) {
    std::vector<std::size_t> guards;
    for (const Guard& guard : guards_) guards.push_back(guard.number);
    known_.push_back({element.array, element.tree, std::move(guards), value});
}

// ---- guards ----

FormulaReader::Guard FormulaReader::guard_of(const ReadValue& test, bool is_met) const {
    Guard guard;
    if (test.is(Kind::number)) {
        guard.tree = is_met ? whole(test, trees_) : trees_.negated(whole(test, trees_));
        return guard;
    }
    guard.why = std::make_shared<const UsageError>(
        error(test.span.begin,
              fmt::format("which threads fulfil '{}' is not known", shown(text_of(test.span))),
              "it depends on data: say what the array holds, --array a=@a.npy, or leave the "
              "condition out"));
    return guard;
}

void FormulaReader::push_guard(Guard guard) {
    guard.number = ++guards_made_;
    guards_.push_back(std::move(guard));
}

NodeTree FormulaReader::condition() const {
    NodeTree all;
    for (const Guard& guard : guards_) all = trees_.both(all, guard.tree);
    return all;
}

}  // namespace coalprof
