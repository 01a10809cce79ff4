#include "core/formula/sequences.h"

#include <bit>
#include <limits>

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

// The same sequence told with a period that is `times` as long.
std::optional<Sequence> stretched(const Sequence& sequence, std::uint64_t times,
                                  std::uint64_t most_threads) {
    std::uint64_t threads = 0;
    if (__builtin_mul_overflow(sequence.threads, times, &threads) || threads > most_threads)
        return std::nullopt;
    return repeats(threads, narrowed(Wide{sequence.advance} * static_cast<Wide>(times)));
}

// Stretched until its advance is a multiple of `step`: what / % >> and bit masks need.
std::optional<Sequence> aligned(const Sequence& sequence, std::uint64_t step,
                                std::uint64_t most_threads) {
    return stretched(sequence, step / std::gcd(step, magnitude(sequence.advance)), most_threads);
}

// Two sequences told with one period.
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

std::optional<Sequence> divided(NodeKind kind, const NodeFacts& a, std::int64_t divisor,
                                std::uint64_t most_threads) {
    if (a.sequence->advance == 0) return a.sequence;
    if (divisor == 0) return std::nullopt;
    // Division towards zero repeats only where the dividend does not change its sign.
    if (a.range.low < 0 && a.range.high > 0) return std::nullopt;
    const auto step = aligned(*a.sequence, magnitude(divisor), most_threads);
    if (!step) return std::nullopt;
    if (kind == NodeKind::remainder) return Sequence{step->threads, 0};
    return repeats(step->threads, narrowed(Wide{step->advance} / divisor));
}

std::optional<Sequence> shifted(NodeKind kind, const NodeFacts& a, std::int64_t count,
                                std::uint64_t most_threads) {
    if (count < 0 || count > 63) return std::nullopt;
    const Wide factor = Wide{1} << count;
    if (kind == NodeKind::shift_left)
        return repeats(a.sequence->threads, narrowed(a.sequence->advance * factor));
    // >> rounds down for negative numbers too: no condition on the sign.
    const auto step = aligned(*a.sequence, static_cast<std::uint64_t>(factor), most_threads);
    if (!step) return std::nullopt;
    return repeats(step->threads, narrowed(step->advance / factor));
}

// x op mask, where the mask repeats and touches only the low bits of x: x advancing in steps of
// 2^bits leaves those bits alone. A mask that is all ones above its low bits is the complement of
// such a one.
std::optional<Sequence> masked(NodeKind kind, const NodeFacts& x, const NodeFacts& mask,
                               std::uint64_t most_threads) {
    const bool is_low = mask.range.low >= 0;
    const bool is_complement = mask.range.high < 0;
    if (mask.sequence->advance != 0 || !(is_low || is_complement)) return std::nullopt;
    const auto widest = static_cast<std::uint64_t>(is_low ? mask.range.high : ~mask.range.low);
    const auto step =
        aligned(*x.sequence, std::uint64_t{1} << std::bit_width(widest), most_threads);
    if (!step) return std::nullopt;
    const auto both = paired(*step, *mask.sequence, most_threads);
    if (!both) return std::nullopt;
    if (kind == NodeKind::bit_xor)
        return repeats(both->threads, narrowed(is_low ? Wide{both->a} : -Wide{both->a}));
    const bool keeps_high_bits = (kind == NodeKind::bit_or) == is_low;
    return Sequence{both->threads, keeps_high_bits ? both->a : 0};
}

// Whether the value is zero or not, as a sequence.
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

std::optional<Sequence> extreme(NodeKind kind, const NodeFacts& a, const NodeFacts& b,
                                const Pair& pair) {
    if (pair.a == pair.b) return Sequence{pair.threads, pair.a};
    const bool a_below = a.range.high <= b.range.low;
    const bool b_below = b.range.high <= a.range.low;
    if (!a_below && !b_below) return std::nullopt;
    return a_below == (kind == NodeKind::minimum) ? a.sequence : b.sequence;
}

std::optional<Sequence> of_two(NodeKind kind, const NodeFacts& a, const NodeFacts& b,
                               std::uint64_t most_threads) {
    const auto pair = paired(*a.sequence, *b.sequence, most_threads);
    if (!pair) return std::nullopt;
    const Wide advance_a = pair->a;
    const Wide advance_b = pair->b;
    switch (kind) {
        case NodeKind::add:
            return repeats(pair->threads, narrowed(advance_a + advance_b));
        case NodeKind::subtract:
            return repeats(pair->threads, narrowed(advance_a - advance_b));
        case NodeKind::minimum:
        case NodeKind::maximum:
            return extreme(kind, a, b, *pair);
        case NodeKind::multiply:
            if (a.range.is_single())
                return repeats(pair->threads, narrowed(advance_b * a.range.low));
            if (b.range.is_single())
                return repeats(pair->threads, narrowed(advance_a * b.range.low));
            break;
        case NodeKind::divide:
        case NodeKind::remainder:
            if (b.range.is_single()) return divided(kind, a, b.range.low, most_threads);
            break;
        case NodeKind::shift_left:
        case NodeKind::shift_right:
            if (b.range.is_single()) return shifted(kind, a, b.range.low, most_threads);
            break;
        case NodeKind::bit_and:
        case NodeKind::bit_or:
        case NodeKind::bit_xor:
            if (const auto left = masked(kind, a, b, most_threads)) return left;
            return masked(kind, b, a, most_threads);
        default:  // comparisons: both sides moving alike compare alike
            if (pair->a == pair->b) return Sequence{pair->threads, 0};
            break;
    }
    return std::nullopt;
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

std::optional<Sequence> sequence_of(Variable variable, const Scope& scope) {
    // What counts up from 0 and starts again every `threads`; in a shorter launch it never does.
    const auto counter = [&](std::uint64_t threads) {
        return threads >= scope.threads ? Sequence{1, 1} : Sequence{threads, 0};
    };
    const auto steps = [&](std::uint64_t threads, std::int64_t advance) -> std::optional<Sequence> {
        if (threads > scope.threads) return std::nullopt;
        return Sequence{threads, advance};
    };
    const std::uint64_t grid_row = scope.block * scope.grid_x;
    switch (variable) {
        case Variable::i:
            return Sequence{1, 1};
        case Variable::tid:
            return counter(scope.block);
        case Variable::tid_x:
            return counter(scope.block_x);
        case Variable::lane:
            // A block that ends in a partial warp restarts the count of lanes before 32.
            if (scope.block % warp_lanes == 0 || scope.block >= scope.threads)
                return counter(warp_lanes);
            return Sequence{scope.block, 0};
        case Variable::tid_y:
        case Variable::warp:
            return steps(scope.block, 0);
        case Variable::bid:
            return steps(scope.block, 1);
        case Variable::bid_x:
            return grid_row >= scope.threads ? steps(scope.block, 1) : steps(grid_row, 0);
        case Variable::bid_y:
            return steps(grid_row, 1);
        default:
            return Sequence{};
    }
}

std::optional<Sequence> sequence_of_result(NodeKind kind,
                                           const std::array<const NodeFacts*, 3>& operands,
                                           std::uint64_t most_threads) {
    if (kind == NodeKind::conditional) return of_conditional(operands, most_threads);
    const NodeFacts& a = *operands[0];
    if (kind == NodeKind::logical_not) return truth_sequence(a);
    if (is_lazy(kind))
        return without_advance(truth_sequence(a), truth_sequence(*operands[1]), most_threads);
    if (!a.sequence) return std::nullopt;
    const Wide advance = a.sequence->advance;
    switch (kind) {
        case NodeKind::negate:
        case NodeKind::complement:
            return repeats(a.sequence->threads, narrowed(-advance));
        case NodeKind::absolute:
            if (advance == 0 || a.range.low >= 0) return a.sequence;
            if (a.range.high > 0) return std::nullopt;
            return repeats(a.sequence->threads, narrowed(-advance));
        default:
            break;
    }
    const NodeFacts& b = *operands[1];
    if (!b.sequence) return std::nullopt;
    const auto steady = without_advance(a.sequence, b.sequence, most_threads);
    if (kind == NodeKind::hash) return without_advance(steady, operands[2]->sequence, most_threads);
    if (steady) return steady;
    return of_two(kind, a, b, most_threads);
}

}  // namespace coalprof
