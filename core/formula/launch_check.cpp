#include "core/formula/launch_check.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <string>

#include "core/formula/lane_program.h"
#include "core/formula/lexer.h"
#include "core/formula/ranges.h"
#include "core/pattern/formulas.h"
#include "core/runtime/parallel.h"
#include "core/runtime/signal.h"

namespace coalprof {
namespace {

// Twice the width of a value: no operator overflows it.
__extension__ using Wide = __int128;

// Where it fails, `result` means nothing.
template <typename Operator>
Fault apply(const std::int64_t* operands, std::int64_t& result) {
    if constexpr (requires { Operator::fault(0, 0); })
        if (const Fault fault = Operator::fault(operands[0], operands[1]); fault != Fault::none)
            return fault;
    if constexpr (Operator::info.kind == NodeKind::hash) {
        result = Operator::of(operands[0], operands[1], operands[2]);
    } else if constexpr (can_overflow<Operator>) {
        const Wide exact = Operator::of(Wide{operands[0]}, Wide{operands[1]});
        result = static_cast<std::int64_t>(exact);
        if (result != exact) return Fault::overflow;
    } else {
        result = Operator::of(operands[0], operands[1]);
    }
    return Fault::none;
}

class ThreadEvaluator {
 public:
    ThreadEvaluator(const std::vector<Node>& nodes, const Scope& scope, std::uint64_t thread)
        : nodes_(nodes), scope_(scope), thread_(thread) {}

    // Recursion is bounded: the parser lets no tree be deeper than max_formula_depth.
    ThreadValue evaluate(NodeId id) const {
        const Node& node = nodes_[id];
        switch (node.kind) {
            case NodeKind::literal: return {node.value};
            case NodeKind::parameter: return {scope_.values[static_cast<std::size_t>(node.value)]};
            case NodeKind::variable:
                return {value_of(static_cast<Variable>(node.value), scope_, thread_)};
            case NodeKind::lookup: return looked_up(id);
            case NodeKind::logical_and:
            case NodeKind::logical_or: return either(node);
            case NodeKind::conditional: {
                const ThreadValue test = evaluate(node.children[0]);
                if (test.fault != Fault::none) return test;
                return evaluate(node.children[test.value != 0 ? 1 : 2]);
            }
            default: return strict(id);
        }
    }

 private:
    ThreadValue either(const Node& node) const {
        ThreadValue left = evaluate(node.children[0]);
        if (left.fault != Fault::none) return left;
        const bool decided = (left.value != 0) == (node.kind == NodeKind::logical_or);
        if (decided) return {left.value != 0};
        ThreadValue right = evaluate(node.children[1]);
        right.value = right.value != 0;
        return right;
    }

    ThreadValue looked_up(NodeId id) const {
        const Node& node = nodes_[id];
        const ThreadValue index = evaluate(node.children[0]);
        if (index.fault != Fault::none) return index;
        const LookupTable& table = scope_.tables[static_cast<std::size_t>(node.value)];
        if (!table.holds(index.value)) return {index.value, Fault::outside_table, id};
        return {(*table.values)[static_cast<std::size_t>(index.value)]};
    }

    ThreadValue strict(NodeId id) const {
        const Node& node = nodes_[id];
        std::int64_t operands[3] = {};
        for (std::size_t k = 0; k < child_count(node.kind); ++k) {
            const ThreadValue operand = evaluate(node.children[k]);
            if (operand.fault != Fault::none) return operand;
            operands[k] = operand.value;
        }
        std::int64_t value = 0;
        const Fault fault = visit_operator(node.kind, [&]<typename Operator>(Operator) {
            return apply<Operator>(operands, value);
        });
        return {value, fault, id};
    }

    const std::vector<Node>& nodes_;
    const Scope& scope_;
    std::uint64_t thread_;
};

struct Found {
    std::uint64_t active = 0;
    std::int64_t highest = -1;
    bool failed = false;
    std::uint64_t failing_thread = ~0ull;  // the first that does

    void add(const Found& other) {
        active += other.active;
        highest = std::max(highest, other.highest);
        failed = failed || other.failed;
        failing_thread = std::min(failing_thread, other.failing_thread);
    }
};

using Elements = std::array<std::uint64_t, warp_lanes>;

// An idle lane is -1 as a signed number: the only negative one, and never the highest.
void note(const Elements& elements, Found& found) {
    for (const std::uint64_t element : elements) {
        found.active += element != idle_lane;
        found.highest = std::max(found.highest, static_cast<std::int64_t>(element));
    }
}

std::optional<std::uint64_t> common_period(const FormulaAccess& access, const Scope& scope,
                                           const std::vector<NodeFacts>& facts) {
    const NodeFacts& index = facts[access.index];
    if (!index.common_period) return std::nullopt;
    if (!access.condition) return index.common_period;
    const NodeFacts& condition = facts[*access.condition];
    const bool is_steady = (condition.sequence && condition.sequence->advance == 0) ||
                           truth_of(condition.range) != Truth::sometimes;
    if (!condition.common_period || !is_steady) return std::nullopt;
    return common_multiple(*index.common_period, *condition.common_period, scope.threads);
}

// True if it is known without a walk that no thread fails, and all take part. The reach of a long
// launch, or of a pattern, is then the most that its index can be.
bool is_proven(const ParsedFormula& formula, const FormulaAccess& access, const Scope& scope,
               const std::vector<NodeFacts>& facts, std::int64_t largest_index) {
    constexpr std::uint64_t most_walked = std::uint64_t{1} << 24;  // threads
    const NodeFacts& index = facts[access.index];
    return !access.condition && !index.subtree_can_fail && index.range.low >= 0 &&
           index.range.high <= largest_index &&
           (formula.is_of_catalog ||
            common_period(access, scope, facts).value_or(scope.threads) > most_walked);
}

class LaunchChecker {
 public:
    LaunchChecker(const ParsedFormula& formula, const FormulaAccess& access, const Scope& scope,
                  const std::vector<NodeFacts>& facts, std::int64_t largest_index)
        : formula_(formula),
          access_(access),
          scope_(scope),
          facts_(facts),
          largest_index_(largest_index),
          program_(formula.nodes, facts, scope, access.index, access.condition, Checking::on,
                   largest_index) {}

    LaunchExtent check() const { return extent_of(found()); }

    Found found() const {
        const std::uint64_t threads = scope_.threads;
        if (is_proven(formula_, access_, scope_, facts_, largest_index_))
            return {.active = threads, .highest = facts_[access_.index].range.high};
        const std::uint64_t period = common_period(access_, scope_, facts_).value_or(threads);
        const std::uint64_t periods = threads / period;
        Found first = walk(0, period);
        if (first.failed || period == threads) return first;

        // Between the first and the last period every value moves evenly, so that the lowest, the
        // highest and the first failure are in one of the two, unless the failure is between them.
        const Found last = walk((periods - 1) * period, periods * period);
        if (last.failed) return walk_failing_period(period, periods);
        const Found rest = walk(periods * period, threads);
        if (rest.failed) return rest;
        first.active = first.active * periods + rest.active;
        first.highest = std::max({first.highest, last.highest, rest.highest});
        return first;
    }

    // True if none of the next threads compute their index either, as behind an array's end.
    bool ends_at(std::uint64_t thread) const {
        constexpr std::uint64_t most_threads = 4096;
        for (std::uint64_t k = thread + 1; k < std::min(scope_.threads, thread + most_threads); ++k)
            if (const ThreadValue index = index_in(k);
                index.fault == Fault::none && index.value >= 0)
                return false;
        return true;
    }
    UsageError failure(std::uint64_t thread) const {
        return launch_failure(formula_, scope_, thread, index_in(thread), largest_index_,
                              ends_at(thread));
    }

 private:
    // In all threads, piece by piece; pieces after one that fails are left out.
    Found walk(std::uint64_t begin, std::uint64_t end) const {
        constexpr std::uint64_t piece_threads = warp_lanes << 13;  // some tenths of a millisecond
        std::atomic<std::uint64_t> first_failing{end};
        return parallel_sum<Found>((end - begin + piece_threads - 1) / piece_threads,
                                   [&](std::uint64_t piece, Found& found) {
                                       stop_if_asked();
                                       const std::uint64_t from = begin + piece * piece_threads;
                                       if (from > first_failing) return;
                                       walk_piece(from, std::min(end, from + piece_threads), found);
                                       if (found.failing_thread < first_failing)
                                           first_failing = found.failing_thread;
                                   });
    }
    void walk_piece(std::uint64_t begin, std::uint64_t end, Found& found) const {
        Elements elements;
        for (std::uint64_t first = begin; first < end; first += warp_lanes) {
            const auto lanes =
                static_cast<std::size_t>(std::min<std::uint64_t>(warp_lanes, end - first));
            if (program_.run(first, elements.data())) {
                for (std::size_t k = 0; k < lanes; ++k) {
                    if (!fails(first + k)) continue;
                    found.failed = true;
                    found.failing_thread = std::min(found.failing_thread, first + k);
                    return;
                }
            }
            std::fill(elements.begin() + static_cast<std::ptrdiff_t>(lanes), elements.end(),
                      idle_lane);
            note(elements, found);
        }
    }

    // The first period fails nowhere and the last one somewhere: an operator that fails in one
    // period fails in all that follow it.
    Found walk_failing_period(std::uint64_t period, std::uint64_t periods) const {
        std::uint64_t fine = 0;
        std::uint64_t failing = periods - 1;
        while (failing - fine > 1) {
            const std::uint64_t middle = fine + (failing - fine) / 2;
            (walk(middle * period, (middle + 1) * period).failed ? failing : fine) = middle;
        }
        return walk(failing * period, (failing + 1) * period);
    }

    // It is -1 where the thread takes no part.
    ThreadValue index_in(std::uint64_t thread) const {
        if (access_.condition) {
            ThreadValue test = evaluate_thread(formula_.nodes, *access_.condition, scope_, thread);
            if (test.fault != Fault::none) return test;
            if (test.value == 0) return {-1};
        }
        ThreadValue index = evaluate_thread(formula_.nodes, access_.index, scope_, thread);
        if (index.fault != Fault::none) return index;
        index.where = access_.index;
        if (index.value < 0) index.fault = Fault::negative_index;
        if (index.value > largest_index_) index.fault = Fault::index_too_large;
        return index;
    }
    bool fails(std::uint64_t thread) const { return index_in(thread).fault != Fault::none; }

    LaunchExtent extent_of(const Found& found) const {
        if (found.failed) throw failure(found.failing_thread);
        return {found.active, static_cast<std::uint64_t>(found.highest + 1)};
    }

    const ParsedFormula& formula_;
    const FormulaAccess& access_;
    const Scope& scope_;
    const std::vector<NodeFacts>& facts_;
    std::int64_t largest_index_;
    LaneProgram program_;
};

}  // namespace

ThreadValue evaluate_thread(const std::vector<Node>& nodes, NodeId root, const Scope& scope,
                            std::uint64_t thread) {
    return ThreadEvaluator(nodes, scope, thread).evaluate(root);
}

std::uint64_t warps_to_check(const ParsedFormula& formula, const FormulaAccess& access,
                             const Scope& scope, const std::vector<NodeFacts>& facts) {
    if (is_proven(formula, access, scope, facts, std::numeric_limits<std::int64_t>::max()))
        return 0;
    return common_period(access, scope, facts).value_or(scope.threads) / warp_lanes;
}

namespace {

// Calls `visit` with the checker of each index that the access has to keep within an extent, and of
// the access itself last.
template <typename Visit>
void each_checker(const ParsedFormula& formula, const FormulaAccess& access, const Scope& scope,
                  const std::vector<NodeFacts>& facts, std::int64_t largest_index, Visit visit) {
    for (const FormulaBound& bound : access.bounds) {
        FormulaAccess index = access;
        index.index = bound.index;
        visit(LaunchChecker(formula, index, scope, facts,
                            static_cast<std::int64_t>(bound.extent) - 1));
    }
    visit(LaunchChecker(formula, access, scope, facts, largest_index));
}

}  // namespace

LaunchExtent check_launch(const ParsedFormula& formula, const FormulaAccess& access,
                          const Scope& scope, const std::vector<NodeFacts>& facts,
                          std::int64_t largest_index) {
    LaunchExtent extent;
    each_checker(formula, access, scope, facts, largest_index,
                 [&](const LaunchChecker& checker) { extent = checker.check(); });
    return extent;
}

ThreadsWithin threads_within(const ParsedFormula& formula, const FormulaAccess& access,
                             const Scope& scope, const std::vector<NodeFacts>& facts,
                             std::int64_t largest_index) {
    ThreadsWithin within{scope.threads};
    each_checker(formula, access, scope, facts, largest_index, [&](const LaunchChecker& checker) {
        const std::uint64_t thread = checker.found().failing_thread;
        if (thread >= within.threads) return;
        within = {thread, std::make_shared<const UsageError>(checker.failure(thread)),
                  thread > 0 && checker.ends_at(thread)};
    });
    return within;
}

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

// In the order of Fault, from overflow on. {0}: the text that fails, {1}: its value
constexpr std::array<const char*, 7> sentences{
    "'{0}' does not fit 64 signed bits",
    "'{0}' divides by zero",
    "'{0}' shifts by a count that is not 0 to 63",
    "'{0}' needs at least 1 bucket",
    "'{0}' reads element {1}, which its array does not hold",
    "the index '{0}' is negative ({1})",
    "the index '{0}' is out of range ({1})",
};
static_assert(sentences.size() == static_cast<std::size_t>(Fault::index_too_large));

// What to do about one thread's failure.
class FailureHint {
 public:
    FailureHint(const ParsedFormula& formula, const Scope& scope, const ThreadValue& failed)
        : formula_(formula), scope_(scope), failed_(failed), node_(formula.nodes[failed.where]) {
        const auto has_it = [&](NodeId root) {
            return formula.nodes[root].first <= failed.where && failed.where <= root;
        };
        for (const FormulaAccess& access : formula.accesses)
            if (has_it(access.index) || (access.condition && has_it(*access.condition)) ||
                std::ranges::any_of(access.bounds, has_it, &FormulaBound::index))
                access_ = &access;
        const auto array = access_ == nullptr ? formula.arrays.end()
                                              : std::ranges::find(formula.arrays, access_->array,
                                                                  &DeclaredArray::name);
        first_element_ = array != formula.arrays.end() && array->is_fortran ? 1 : 0;
    }

    std::string text(std::uint64_t thread, std::int64_t largest_index, bool ends_here) const {
        const std::string_view own = formula_.text_of(node_);
        switch (failed_.fault) {
            case Fault::none: return {};
            case Fault::overflow:
                return "use smaller numbers or a smaller --size; threads can be switched off: "
                       "a[index] if i < 1000";
            case Fault::division_by_zero: return of_division();
            case Fault::shift_count:
                return "a 64-bit number has bits 0 to 63: take the count % 64, or switch such "
                       "threads off with 'if'";
            case Fault::bucket_count:
                return "hash(x, buckets) answers 0 to buckets - 1, so buckets starts at 1";
            case Fault::outside_table: {
                const Node& index = formula_.nodes[node_.children[0]];
                const auto& table = scope_.tables[static_cast<std::size_t>(node_.value)];
                return switched_off(index, failed_.value < 0
                                               ? " >= 0"
                                               : fmt::format(" < {}", table.values->size())) +
                       ", or give --array more elements";
            }
            case Fault::negative_index:
                if (first_element_ > 0)
                    return "a Fortran array begins with element 1: x(i + 1) is thread 0's first";
                return switched_off(node_, " >= 0") + fmt::format(", or clamp: max({}, 0)", own);
            case Fault::index_too_large: break;
        }
        const std::int64_t largest = largest_index + first_element_;
        std::string hint = fmt::format("the largest index accepted is {}: ", largest);
        const bool has_arrays = !formula_.arrays.empty();
        if (ends_here && thread == 0)
            return hint + "take a smaller one" +
                   (has_arrays ? ", or give --array more elements" : "");
        if (ends_here)
            hint += fmt::format(
                "launch fewer threads: {} fit{}; or ", thread,
                has_arrays ? "; without --size and --grid an --array decides how many" : "");
        return hint + switched_off(node_, fmt::format(" < {}", largest + 1));
    }

 private:
    std::string of_division() const {
        const Node& divisor = formula_.nodes[node_.children[1]];
        const auto first = formula_.nodes.begin() + divisor.first;
        const auto last = formula_.nodes.begin() + node_.children[1] + 1;
        if (std::all_of(first, last, [](const Node& one) {
                return child_count(one.kind) > 0 ? one.kind != NodeKind::lookup
                                                 : one.kind != NodeKind::variable;
            }))
            return "the divisor is 0 in all threads: divide by another number";
        return switched_off(divisor, " != 0");
    }

    // "switch such threads off: a[i - 1] if i - 1 >= 0", of the statement as the user wrote it.
    std::string switched_off(const Node& node, const std::string& comparison) const {
        const bool binds_looser =
            (node.kind >= NodeKind::less && node.kind <= NodeKind::bit_or) || is_lazy(node.kind);
        std::string guard = fmt::format(fmt::runtime(binds_looser ? "({}){}" : "{}{}"),
                                        formula_.text_of(node), comparison);
        std::string_view statement = formula_.text;
        if (access_ != nullptr) {
            const std::size_t before = statement.rfind(';', access_->begin);
            const std::size_t begin = before == statement.npos ? 0 : before + 1;
            std::size_t end = statement.find(';', access_->begin);
            if (access_->condition_begin < access_->condition_end) {
                end = access_->condition_begin;
                const std::string_view own =
                    statement.substr(end + 2, std::size_t{access_->condition_end} - end - 2);
                const bool is_open = own.find_first_of("|?") != own.npos;
                guard += fmt::format(fmt::runtime(is_open ? " && ({})" : " && {}"), trimmed(own));
            }
            statement = statement.substr(begin, end - begin);
        }
        return fmt::format("switch such threads off: {} if {}", trimmed(statement), guard);
    }
    static std::string_view trimmed(std::string_view text) {
        const std::size_t begin = std::min(text.find_first_not_of(" \n\t"), text.size());
        return text.substr(begin, text.find_last_not_of(" \n\t") + 1 - begin);
    }

    const ParsedFormula& formula_;
    const Scope& scope_;
    const ThreadValue& failed_;
    const Node& node_;
    const FormulaAccess* access_ = nullptr;
    std::int64_t first_element_ = 0;
};

}  // namespace

UsageError launch_failure(const ParsedFormula& formula, const Scope& scope, std::uint64_t thread,
                          const ThreadValue& failed, std::int64_t largest_index, bool ends_here) {
    const Node& node = formula.nodes[failed.where];
    const char* sentence = sentences[static_cast<std::size_t>(failed.fault) - 1];
    // For an index out of range the whole is marked; for an operator its sign.
    const bool is_index =
        failed.fault == Fault::negative_index || failed.fault == Fault::index_too_large;
    return formula_error(
        formula.text, is_index ? node.begin : node.at,
        fmt::format("{}, first {}{}",
                    fmt::format(fmt::runtime(sentence), shown(formula.text_of(node)), failed.value),
                    place_of(scope, thread), values_below(formula, failed.where, scope, thread)),
        FailureHint(formula, scope, failed).text(thread, largest_index, ends_here));
}

}  // namespace coalprof
