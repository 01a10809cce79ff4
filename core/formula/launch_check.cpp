#include "core/formula/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>

#include "core/formula/failure.h"
#include "core/formula/lane_program.h"
#include "core/formula/ranges.h"
#include "core/formula/scalar.h"
#include "core/formula/sequences.h"
#include "core/pattern/formulas.h"
#include "core/runtime/parallel.h"
#include "core/runtime/signal.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

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
[[gnu::always_inline]] inline void note(const Elements& elements, Found& found) {
    constexpr std::size_t half = warp_lanes / 2;
    std::uint64_t idle = 0;
    // Two maxima side by side: in one, each comparison would wait for the one before.
    std::int64_t highest = found.highest;
    std::int64_t other_highest = found.highest;
    for (std::size_t k = 0; k < half; ++k) {
        idle += elements[k] >> 63;
        highest = std::max(highest, static_cast<std::int64_t>(elements[k]));
    }
    for (std::size_t k = half; k < warp_lanes; ++k) {
        idle += elements[k] >> 63;
        other_highest = std::max(other_highest, static_cast<std::int64_t>(elements[k]));
    }
    found.active += warp_lanes - idle;
    found.highest = std::max(highest, other_highest);
}
COALPROF_AVX2 void note_wide(const Elements& elements, Found& found) { note(elements, found); }

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
// launch is then the most that its index can be.
bool is_proven(const FormulaAccess& access, const Scope& scope, const std::vector<NodeFacts>& facts,
               std::int64_t largest_index) {
    constexpr std::uint64_t most_walked = std::uint64_t{1} << 24;  // threads; 50 ms
    const NodeFacts& index = facts[access.index];
    return !access.condition && !index.subtree_can_fail && index.range.low >= 0 &&
           index.range.high <= largest_index &&
           common_period(access, scope, facts).value_or(scope.threads) > most_walked;
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

    LaunchExtent check() const {
        const std::uint64_t threads = scope_.threads;
        if (is_proven(access_, scope_, facts_, largest_index_))
            return {threads, static_cast<std::uint64_t>(facts_[access_.index].range.high) + 1};
        const std::uint64_t period = common_period(access_, scope_, facts_).value_or(threads);
        const std::uint64_t periods = threads / period;
        Found first = walk(0, period);
        if (first.failed || period == threads) return extent_of(first);

        // Between the first and the last period every value moves evenly, so that the lowest, the
        // highest and the first failure are in one of the two, unless the failure is between them.
        const Found last = walk((periods - 1) * period, periods * period);
        if (last.failed) return extent_of(walk_failing_period(period, periods));
        const Found rest = walk(periods * period, threads);
        if (rest.failed) return extent_of(rest);
        first.active = first.active * periods + rest.active;
        first.highest = std::max({first.highest, last.highest, rest.highest});
        return extent_of(first);
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
            vectors_ == Vectors::avx2 ? note_wide(elements, found) : note(elements, found);
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

    ThreadValue index_in(std::uint64_t thread) const {
        if (access_.condition) {
            ThreadValue test = evaluate_thread(formula_.nodes, *access_.condition, scope_, thread);
            if (test.fault != Fault::none) return test;
            if (test.value == 0) return {};
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
        if (found.failed)
            throw launch_failure(formula_, scope_, found.failing_thread,
                                 index_in(found.failing_thread), largest_index_);
        return {found.active, static_cast<std::uint64_t>(found.highest + 1)};
    }

    const ParsedFormula& formula_;
    const FormulaAccess& access_;
    const Scope& scope_;
    const std::vector<NodeFacts>& facts_;
    std::int64_t largest_index_;
    Vectors vectors_ = best_vectors();
    LaneProgram program_;
};

}  // namespace

std::uint64_t warps_to_check(const FormulaAccess& access, const Scope& scope,
                             const std::vector<NodeFacts>& facts) {
    if (is_proven(access, scope, facts, std::numeric_limits<std::int64_t>::max())) return 0;
    return common_period(access, scope, facts).value_or(scope.threads) / warp_lanes;
}

LaunchExtent check_launch(const ParsedFormula& formula, const FormulaAccess& access,
                          const Scope& scope, const std::vector<NodeFacts>& facts,
                          std::int64_t largest_index) {
    return LaunchChecker(formula, access, scope, facts, largest_index).check();
}

}  // namespace coalprof
