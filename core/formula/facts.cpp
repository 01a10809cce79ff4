#include "core/formula/facts.h"

#include <array>
#include <bit>
#include <limits>

#include "core/formula/operators.h"
#include "core/formula/ranges.h"

namespace coalprof {
namespace {

__extension__ using Wide = __int128;

std::optional<std::int64_t> narrowed(Wide value) {
    if (value < std::numeric_limits<std::int64_t>::min() ||
        value > std::numeric_limits<std::int64_t>::max())
        return std::nullopt;
    return static_cast<std::int64_t>(value);
}

std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

std::optional<Sequence> repeats(std::uint64_t threads, std::optional<std::int64_t> advance) {
    if (!advance) return std::nullopt;
    return Sequence{threads, *advance};
}

// The same sequence with a period that is `times` as long.
std::optional<Sequence> stretched(const Sequence& sequence, std::uint64_t times,
                                  std::uint64_t most_threads) {
    std::uint64_t threads = 0;
    if (__builtin_mul_overflow(sequence.threads, times, &threads) || threads > most_threads)
        return std::nullopt;
    return repeats(threads, narrowed(Wide{sequence.advance} * static_cast<Wide>(times)));
}

// Stretched until its advance is a multiple of `step`, which / % >> and bit masks need.
std::optional<Sequence> aligned(const Sequence& sequence, std::uint64_t step,
                                std::uint64_t most_threads) {
    return stretched(sequence, step / std::gcd(step, magnitude(sequence.advance)), most_threads);
}

// Two sequences with one period.
struct Pair {
    std::uint64_t threads = 1;
    std::int64_t a = 0;  // advances
    std::int64_t b = 0;
};
std::optional<Pair> paired(const Sequence& a, const Sequence& b, std::uint64_t most_threads) {
    const auto threads = common_multiple(a.threads, b.threads, most_threads);
    if (!threads) return std::nullopt;
    const auto left = stretched(a, *threads / a.threads, most_threads);
    const auto right = stretched(b, *threads / b.threads, most_threads);
    if (!left || !right) return std::nullopt;
    return Pair{*threads, left->advance, right->advance};
}

// The sequence of "is it zero?".
std::optional<Sequence> truth_sequence(const NodeFacts& facts) {
    if (truth_of(facts.range) != Truth::sometimes) return Sequence{};
    if (!facts.sequence || facts.sequence->advance != 0) return std::nullopt;
    return facts.sequence;
}

std::optional<Sequence> without_advance(const std::optional<Sequence>& a,
                                        const std::optional<Sequence>& b,
                                        std::uint64_t most_threads) {
    if (!a || !b || a->advance != 0 || b->advance != 0) return std::nullopt;
    const auto threads = common_multiple(a->threads, b->threads, most_threads);
    if (!threads) return std::nullopt;
    return Sequence{*threads, 0};
}

template <typename Operator>
std::optional<std::int64_t> difference(std::int64_t a, std::int64_t b, std::int64_t from_a,
                                       std::int64_t from_b) {
    return narrowed(Wide{Operator::of(Wide{a}, Wide{b})} -
                    Wide{Operator::of(Wide{from_a}, Wide{from_b})});
}

// x op b where b repeats, and x may move by Operator::step() and its multiples.
template <typename Operator>
std::optional<Sequence> stepped(const NodeFacts& x, const NodeFacts& b,
                                std::uint64_t most_threads) {
    if (b.sequence->advance != 0) return std::nullopt;
    const auto step = Operator::step(x.range, b.range);
    if (!step) return std::nullopt;
    const auto even = aligned(*x.sequence, *step, most_threads);
    if (!even) return std::nullopt;
    const auto both = paired(*even, *b.sequence, most_threads);
    if (!both) return std::nullopt;
    return repeats(both->threads, difference<Operator>(both->a, b.range.low, 0, b.range.low));
}

// For a strict operator of one or two operands that do not only repeat.
template <typename Operator>
std::optional<Sequence> moving(const NodeFacts& a, const NodeFacts& b, std::uint64_t most_threads) {
    if constexpr (requires { Operator::motion; }) {
        const auto pair = paired(*a.sequence, *b.sequence, most_threads);
        if (!pair || (Operator::motion == Motion::together && pair->a != pair->b))
            return std::nullopt;
        return repeats(pair->threads, difference<Operator>(pair->a, pair->b, 0, 0));
    } else if constexpr (requires { Operator::step(a.range, b.range); }) {
        const auto left = stepped<Operator>(a, b, most_threads);
        if constexpr (requires { Operator::commutes; })
            return left ? left : stepped<Operator>(b, a, most_threads);
        return left;
    } else {
        return std::nullopt;
    }
}

// True if all shifts are by one count that is allowed.
bool is_count(const ValueRange& range) {
    return range.is_single() && operators::Shift::fault(0, range.low) == Fault::none;
}

std::optional<Sequence> of_conditional(const std::array<const NodeFacts*, 3>& operands,
                                       std::uint64_t most_threads) {
    const Truth truth = truth_of(operands[0]->range);
    if (truth != Truth::sometimes) return operands[truth == Truth::always ? 1 : 2]->sequence;
    const auto test = truth_sequence(*operands[0]);
    if (!test || !operands[1]->sequence || !operands[2]->sequence) return std::nullopt;
    const auto pair = paired(*operands[1]->sequence, *operands[2]->sequence, most_threads);
    if (!pair || pair->a != pair->b) return std::nullopt;
    const auto all = paired({pair->threads, pair->a}, *test, most_threads);
    if (!all) return std::nullopt;
    return Sequence{all->threads, all->a};
}

}  // namespace

namespace operators {

// x * b
std::optional<U64> Multiply::step(const ValueRange&, const ValueRange& b) {
    return b.is_single() ? std::optional<U64>(1) : std::nullopt;
}

// Towards zero, quotients and remainders repeat only where the dividend does not change its sign.
std::optional<U64> Division::step(const ValueRange& x, const ValueRange& b) {
    const bool keeps_sign = x.low >= 0 || x.high <= 0;
    if (!keeps_sign || !b.is_single() || b.low == 0) return std::nullopt;
    return magnitude(b.low);
}

std::optional<U64> ShiftLeft::step(const ValueRange&, const ValueRange& b) {
    return is_count(b) ? std::optional<U64>(1) : std::nullopt;
}
// It rounds down for negative numbers too, so the sign does not matter.
std::optional<U64> ShiftRight::step(const ValueRange&, const ValueRange& b) {
    return is_count(b) ? std::optional(U64{1} << b.low) : std::nullopt;
}

// A mask below 2^k leaves the bits above unchanged, and so does one that is all ones above its low
// k bits: x may move by 2^k.
std::optional<U64> Bitwise::step(const ValueRange&, const ValueRange& mask) {
    if (mask.low < 0 && mask.high >= 0) return std::nullopt;
    return U64{1} << std::bit_width(bits(mask.low < 0 ? ~mask.low : mask.high));
}

}  // namespace operators

namespace {

// The sequence of a variable; none where it repeats only after `most_threads`.
std::optional<Sequence> sequence_of(Variable variable, const Scope& scope) {
    using Counter = VariablePart::Counter;
    const VariablePart part = part_of(variable, scope);
    if (part.counter == Counter::none) return Sequence{};
    // Threads after which it is one higher, and after which it starts again.
    std::uint64_t rises = part.divisor * (part.counter == Counter::block ? scope.block : 1);
    std::uint64_t restarts = part.modulus ? rises * *part.modulus : scope.threads;
    if (part.counter == Counter::thread_in_block && scope.block < scope.threads) {
        // A block that ends within a round starts it anew in the next one, as a block with a
        // partial warp does.
        const bool is_whole = part.modulus && scope.block % restarts == 0;
        if (!is_whole) restarts = scope.block;
    }
    const Sequence sequence = restarts < scope.threads ? Sequence{restarts, 0} : Sequence{rises, 1};
    if (sequence.threads > scope.threads) return std::nullopt;
    return sequence;
}

// The sequence of an operator on operands with these facts. None where no repetition within
// `most_threads` can be proven.
std::optional<Sequence> sequence_of_result(NodeKind kind,
                                           const std::array<const NodeFacts*, 3>& operands,
                                           std::uint64_t most_threads) {
    if (kind == NodeKind::conditional) return of_conditional(operands, most_threads);
    const NodeFacts& a = *operands[0];
    const NodeFacts& b = *operands[1];
    if (kind == NodeKind::logical_not) return truth_sequence(a);
    if (is_lazy(kind)) return without_advance(truth_sequence(a), truth_sequence(b), most_threads);
    if (kind == NodeKind::absolute && a.range.high <= 0) kind = NodeKind::negate;
    if (const auto same = same_as_operand(kind, a.range, b.range)) return operands[*same]->sequence;
    const auto steady = without_advance(without_advance(a.sequence, b.sequence, most_threads),
                                        operands[2]->sequence, most_threads);
    if (steady || !a.sequence || !b.sequence) return steady;
    return visit_operator(
        kind, [&]<typename Operator>(Operator) { return moving<Operator>(a, b, most_threads); });
}

NodeFacts facts_of_leaf(const Node& node, const Scope& scope) {
    NodeFacts facts;
    facts.sequence = Sequence{};
    if (node.kind == NodeKind::variable) {
        const auto variable = static_cast<Variable>(node.value);
        facts.range = range_of(variable, scope);
        if (!facts.range.is_single()) facts.sequence = sequence_of(variable, scope);
    } else {
        const std::int64_t value = node.kind == NodeKind::parameter
                                       ? scope.values[static_cast<std::size_t>(node.value)]
                                       : node.value;
        facts.range = {value, value};
    }
    if (facts.sequence) facts.common_period = facts.sequence->threads;
    return facts;
}

bool is_thread(const Node& node) {
    return node.kind == NodeKind::variable && node.value == static_cast<std::int64_t>(Variable::i);
}

// True of i and of i divided by a number: they count up from 0.
bool counts_up(const Node& node, const std::vector<Node>& nodes, const NodeFacts& facts) {
    const bool is_quotient = node.kind == NodeKind::divide && is_thread(nodes[node.children[0]]);
    return (is_thread(node) || is_quotient) && facts.sequence && facts.sequence->advance == 1;
}

// The repetition of an operand within `threads`, a period of the result.
std::optional<Sequence> repetition_within(const NodeFacts& operand, std::uint64_t threads) {
    if (operand.range.is_single()) return Sequence{};
    if (!operand.sequence || threads % operand.sequence->threads != 0) return std::nullopt;
    return operand.sequence->threads == threads ? operand.inner : operand.sequence;
}

std::optional<Sequence> inner_of_sum(const NodeFacts& a, const NodeFacts& b, bool is_sum,
                                     std::uint64_t threads) {
    const auto of_a = repetition_within(a, threads);
    const auto of_b = repetition_within(b, threads);
    if (!of_a || !of_b) return std::nullopt;
    const auto both = paired(*of_a, *of_b, threads - 1);
    if (!both || threads % both->threads != 0) return std::nullopt;
    return repeats(both->threads,
                   narrowed(is_sum ? Wide{both->a} + both->b : Wide{both->a} - both->b));
}

std::optional<Sequence> inner_of_multiple(const NodeFacts& of, const NodeFacts& times,
                                          std::uint64_t threads) {
    const auto one = repetition_within(of, threads);
    if (!one || !times.range.is_single()) return std::nullopt;
    return repeats(one->threads, narrowed(Wide{one->advance} * times.range.low));
}

// NodeFacts::inner of x % m and x / m where x counts up, and of their sums and multiples.
std::optional<Sequence> inner_of_result(const Node& node, const std::vector<Node>& nodes,
                                        const NodeFacts& a, const NodeFacts& b,
                                        const Sequence& sequence) {
    switch (node.kind) {
        case NodeKind::divide:
        case NodeKind::remainder:
            if (!counts_up(nodes[node.children[0]], nodes, a) || !b.range.is_single() ||
                sequence.threads / a.sequence->threads != magnitude(b.range.low) ||
                sequence.threads == a.sequence->threads)
                return std::nullopt;
            return Sequence{a.sequence->threads, node.kind == NodeKind::remainder ? 1 : 0};
        case NodeKind::multiply:
            if (const auto inner = inner_of_multiple(a, b, sequence.threads)) return inner;
            return inner_of_multiple(b, a, sequence.threads);
        case NodeKind::add:
        case NodeKind::subtract:
            return inner_of_sum(a, b, node.kind == NodeKind::add, sequence.threads);
        default: return std::nullopt;
    }
}

RangeOfResult range_of_table(const LookupTable& table, const ValueRange& index) {
    return {{table.lowest, table.highest}, !table.holds(index.low) || !table.holds(index.high)};
}

NodeFacts facts_of_operator(const Node& node, const std::vector<Node>& nodes,
                            const std::vector<NodeFacts>& known, const Scope& scope) {
    const std::uint64_t threads = scope.threads;
    NodeFacts zero;  // stands for missing operands
    zero.sequence = Sequence{};
    std::array<const NodeFacts*, 3> operands{&zero, &zero, &zero};
    const std::size_t count = child_count(node.kind);
    for (std::size_t k = 0; k < count; ++k) operands[k] = &known[node.children[k]];

    const RangeOfResult result =
        node.kind == NodeKind::lookup
            ? range_of_table(scope.tables[static_cast<std::size_t>(node.value)], operands[0]->range)
            : range_of_result(node.kind, operands[0]->range, operands[1]->range,
                              operands[2]->range);
    NodeFacts facts;
    facts.range = result.range;
    facts.can_fail = result.can_fail;
    facts.subtree_can_fail = result.can_fail;
    facts.common_period = 1;
    for (std::size_t k = 0; k < count; ++k) {
        if (!is_evaluated(node.kind, k, operands[0]->range)) continue;
        facts.subtree_can_fail = facts.subtree_can_fail || operands[k]->subtree_can_fail;
        if (!facts.common_period || !operands[k]->common_period) {
            facts.common_period.reset();
        } else {
            facts.common_period =
                common_multiple(*facts.common_period, *operands[k]->common_period, threads);
        }
    }
    facts.same_as = same_as_operand(node.kind, operands[0]->range, operands[1]->range);
    const auto moving = sequence_of_result(node.kind, operands, threads);
    facts.sequence = facts.range.is_single() ? Sequence{} : moving;
    if (facts.sequence)
        facts.inner = inner_of_result(node, nodes, *operands[0], *operands[1], *facts.sequence);
    // 0/(i-1) has one value and yet fails in thread 1 alone: where an operator can fail, or decides
    // what is evaluated, its operands must be sequences, too.
    const bool can_fail_within = facts.can_fail || (is_lazy(node.kind) && facts.subtree_can_fail);
    const auto& even = can_fail_within ? moving : facts.sequence;
    if (!even) {
        facts.common_period.reset();
    } else if (facts.common_period) {
        facts.common_period = common_multiple(*facts.common_period, even->threads, threads);
    }
    return facts;
}

}  // namespace

std::vector<NodeFacts> prove_facts(const std::vector<Node>& nodes, const Scope& scope) {
    std::vector<NodeFacts> facts;
    facts.reserve(nodes.size());
    for (const Node& node : nodes)
        facts.push_back(child_count(node.kind) == 0 ? facts_of_leaf(node, scope)
                                                    : facts_of_operator(node, nodes, facts, scope));
    return facts;
}

}  // namespace coalprof
