// Periods: what is claimed of a launch is compared with every thread of it.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "core/formula/facts.h"
#include "core/formula/launch_check.h"
#include "core/formula/random_formula.h"
#include "core/formula/user_formula.h"
#include "core/pattern/formulas.h"
#include "core/text/error.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

using testing::RandomFormulas;

std::vector<std::uint64_t> all_elements(const CustomFormula& formula, std::uint64_t threads) {
    std::vector<std::uint64_t> elements(threads);
    for (std::uint64_t first = 0; first < threads; first += warp_lanes)
        formula.evaluate(
            first, static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, threads - first)),
            elements.data() + first);
    return elements;
}

// elements[k + step] == elements[k] + advance for k from `begin`, both sides below `end`.
bool repeats(const std::vector<std::uint64_t>& elements, std::uint64_t begin, std::uint64_t end,
             std::uint64_t step, std::uint64_t advance) {
    for (std::uint64_t k = begin; k + step < end; ++k) {
        const bool is_idle = elements[k] == idle_lane;
        if (is_idle != (elements[k + step] == idle_lane)) return false;
        if (!is_idle && elements[k + step] != elements[k] + advance) return false;
    }
    return true;
}

struct PeriodSubject {
    PeriodSubject(const std::string& text, const Scope& launch)
        : parsed(std::make_shared<const ParsedFormula>(
              parse_formula(text, RandomFormulas::parameters()))),
          scope(launch),
          facts(prove_facts(parsed->nodes, scope)) {}
    UserFormula formula() const { return {parsed, parsed->accesses.front(), scope, facts}; }
    // Whether no thread fails: nothing is promised of launches that are refused.
    bool is_accepted() const {
        try {
            check_launch(*parsed, parsed->accesses.front(), scope, facts,
                         std::numeric_limits<std::int64_t>::max());
            return true;
        } catch (const UsageError&) {
            return false;
        }
    }

    std::shared_ptr<const ParsedFormula> parsed;
    Scope scope;
    std::vector<NodeFacts> facts;
};

TEST(FormulaPeriod, is_true_for_every_thread_of_100000_random_formulas) {
    RandomFormulas random(4);
    int accepted = 0;
    int with_period = 0;
    int with_inner = 0;
    constexpr int formulas = 100'000 / fewer_cases;
    while (accepted < formulas) {
        const std::string text = random.with_condition(1 + static_cast<int>(random.below(4)));
        const Scope scope = random.scope(700);
        const PeriodSubject subject(text, scope);
        if (!subject.is_accepted()) continue;
        ++accepted;
        const UserFormula formula = subject.formula();
        const auto period = formula.period();
        if (!period) continue;
        ++with_period;
        const auto elements = all_elements(formula, scope.threads);
        ASSERT_TRUE(repeats(elements, 0, scope.threads, period->threads, period->advance))
            << text << " threads " << scope.threads << " block " << scope.block << " period "
            << period->threads;
        if (period->inner_threads == 0) continue;
        ++with_inner;
        for (std::uint64_t begin = 0; begin < scope.threads; begin += period->threads)
            ASSERT_TRUE(repeats(elements, begin, std::min(scope.threads, begin + period->threads),
                                period->inner_threads, period->inner_advance))
                << text << " threads " << scope.threads << " inner " << period->inner_threads;
    }
    EXPECT_GT(with_period, formulas / 2);
    EXPECT_GT(with_inner, formulas / 100);
}

struct Expected {
    const char* text;
    std::uint64_t threads;
    std::int64_t advance;
    std::uint64_t inner_threads = 0;
    std::int64_t inner_advance = 0;
};

// A launch of 2^20 threads in blocks of 256.
TEST(FormulaPeriod, is_the_shortest_for_formulas_whose_period_is_known) {
    Scope scope;
    scope.threads = 1 << 20;
    scope.block = 256;
    scope.block_shape = {16, 16};
    scope.grid_shape = {64, 64};
    scope.values = {3, 1000};
    const Expected all[] = {
        {"i", 1, 1},
        {"i*3 + 7", 1, 3},
        {"i*k", 1, 3},
        {"5", 1, 0},
        {"n - 1 - i", 1, -1},
        {"i/4", 4, 1, 1, 0},                          // each element four times, then the next
        {"i*4/4", 1, 1},                              // the division undoes the product
        {"i/2*2 + i%2", 1, 1},                        // quotient and remainder make i again
        {"i%16*17 + i/16", 16, 1, 1, 17},             // 16 rows; the next 16 threads one column on
        {"i%1024*pitch + i/1024", 1024, 1, 1, 1000},  // a column of 1024, then the next column
        {"i/100*128 + i%100", 100, 128, 1, 1},        // a pitched matrix, row by row
        {"lane", 32, 0},
        {"tid", 256, 0, 1, 1},    // counts up within each block
        {"bid*256 + tid", 1, 1},  // that is i
        {"bid*300 + tid", 256, 300, 1, 1},
        {"warp", 256, 0, 32, 1},
        {"i ^ 1", 2, 2},                  // neighbours swapped
        {"i & ~31 | 31 - lane", 32, 32},  // a warp reversed
        {"i & 255", 256, 0, 1, 1},
        {"i >> 5", 32, 1},
        {"i << 2", 1, 4},
        {"(tid.x ^ tid.y) + bid*256", 256, 256},  // a swizzle in a 16 x 16 block
        {"min(i, n)", 1, 1},                      // i is always the smaller
        {"i % n", 1, 1},                          // the remainder changes nothing
        {"lane < 16 ? i : i + 100", 32, 32},
        {"i if lane % 3 == 0", 32, 32},
        {"i if i % 3 == 0 && lane < 30", 96, 96},  // 3 and 32 meet again after 96 threads
    };
    for (const Expected& expected : all) {
        const auto period = PeriodSubject(expected.text, scope).formula().period();
        ASSERT_TRUE(period) << expected.text;
        EXPECT_EQ(period->threads, expected.threads) << expected.text;
        EXPECT_EQ(static_cast<std::int64_t>(period->advance), expected.advance) << expected.text;
        EXPECT_EQ(period->inner_threads, expected.inner_threads) << expected.text;
        EXPECT_EQ(static_cast<std::int64_t>(period->inner_advance), expected.inner_advance)
            << expected.text;
    }
}

TEST(FormulaPeriod, is_not_claimed_where_nothing_repeats) {
    Scope scope;
    scope.threads = 4096;
    scope.block = 256;
    scope.block_shape = {256};
    scope.grid_shape = {16};
    scope.values = {3, 1000};
    for (const char* text : {"i*i", "i ^ (i >> 3)", "hash(i, 1000)", "i < 5 ? 0 : i",
                             "i if i < 100", "i % (i + 1)", "max(i, 100)"})
        EXPECT_FALSE(PeriodSubject(text, scope).formula().period()) << text;
}

}  // namespace
}  // namespace coalprof
