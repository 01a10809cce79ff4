#include "core/formula/period_search.h"

#include <algorithm>
#include <array>

#include "core/formula/ranges.h"
#include "core/formula/sequences.h"
#include "core/pattern/formulas.h"

namespace coalprof {
namespace {

// Longer periods are kept as they were proven: walking one of them then costs the model about as
// much as a shorter one would cost to prove.
constexpr std::uint64_t longest_searched = 1u << 18;
// Steps of lanes that one search may take: about a millisecond.
constexpr std::uint64_t work_budget = 1u << 21;

class PeriodSearch {
 public:
    PeriodSearch(const LaneProgram& program, Sequence proven)
        : program_(program), threads_(program.scope().threads), proven_(proven) {}

    Period shortest() {
        Sequence best = proven_;
        if (best.threads <= longest_searched) shorten(best);
        Period period{best.threads, static_cast<std::uint64_t>(best.advance)};
        if (best.threads > warp_lanes && best.threads <= longest_searched)
            find_inner(best.threads, period);
        return period;
    }

 private:
    // Divides the period by its prime factors as long as the access repeats that soon.
    void shorten(Sequence& best) {
        std::uint64_t left = best.threads;  // without the factors already tried
        for (std::uint64_t prime = 2; left > 1; ++prime) {
            if (prime * prime > left) prime = left;
            if (left % prime != 0) continue;
            while (best.threads % prime == 0) {
                const std::uint64_t shorter = best.threads / prime;
                const auto advance = advance_over(shorter, best.threads);
                if (!advance) break;
                best = {shorter, *advance};
            }
            while (left % prime == 0) left /= prime;
        }
    }

    void find_inner(std::uint64_t outer, Period& period) {
        for (std::uint64_t inner = 1; inner <= outer / 2; ++inner) {
            if (outer % inner != 0) continue;
            const auto advance = advance_over(inner, outer - inner);
            if (!advance) continue;
            period.inner_threads = inner;
            period.inner_advance = static_cast<std::uint64_t>(*advance);
            return;
        }
    }

    // The a with element(i + step) == element(i) + a for the first `count` threads i, idle lanes
    // matching idle lanes; none: there is no such number.
    std::optional<std::int64_t> advance_over(std::uint64_t step, std::uint64_t count) {
        count = std::min(count, threads_ - step);
        std::optional<std::uint64_t> advance;
        std::array<std::uint64_t, warp_lanes> here;
        std::array<std::uint64_t, warp_lanes> there;
        for (std::uint64_t first = 0; first < count; first += warp_lanes) {
            const std::uint64_t work = 2 * warp_lanes * (1 + program_.step_count());
            if (budget_ < work) return std::nullopt;
            budget_ -= work;
            program_.run(first, here.data());
            program_.run(first + step, there.data());
            const std::uint64_t lanes = std::min<std::uint64_t>(warp_lanes, count - first);
            for (std::uint64_t k = 0; k < lanes; ++k) {
                const bool is_idle = here[k] == idle_lane;
                if (is_idle != (there[k] == idle_lane)) return std::nullopt;
                if (is_idle) continue;
                if (!advance) advance = there[k] - here[k];
                if (there[k] - here[k] != *advance) return std::nullopt;
            }
        }
        return static_cast<std::int64_t>(advance.value_or(0));
    }

    const LaneProgram& program_;
    std::uint64_t threads_;
    Sequence proven_;
    std::uint64_t budget_ = work_budget;
};

}  // namespace

std::optional<Period> find_period(const FormulaAccess& access, const std::vector<NodeFacts>& facts,
                                  const LaneProgram& program) {
    const std::uint64_t threads = program.scope().threads;
    std::optional<Sequence> sequence = facts[access.index].sequence;
    if (!sequence) return std::nullopt;
    if (access.condition && truth_of(facts[*access.condition].range) == Truth::sometimes) {
        const auto& condition = facts[*access.condition].sequence;
        if (!condition || condition->advance != 0) return std::nullopt;
        const auto period = common_multiple(sequence->threads, condition->threads, threads);
        if (!period) return std::nullopt;
        const auto times = static_cast<std::int64_t>(*period / sequence->threads);
        std::int64_t advance = 0;
        if (__builtin_mul_overflow(sequence->advance, times, &advance)) return std::nullopt;
        sequence = Sequence{*period, advance};
    }
    if (sequence->threads >= threads) return std::nullopt;
    return PeriodSearch(program, *sequence).shortest();
}

}  // namespace coalprof
