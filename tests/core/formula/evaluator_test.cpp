// The vectorised evaluator, the proofs and the launch check against the slow evaluator, which does
// one thread at a time exactly as the language says.
#include <fmt/core.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "core/formula/facts.h"
#include "core/formula/lane_program.h"
#include "core/formula/launch_check.h"
#include "core/formula/random_formula.h"
#include "core/pattern/formulas.h"

namespace coalprof {
namespace {

using testing::RandomFormulas;

// One access with everything that is known of it.
struct Subject {
    Subject(const std::string& text, Scope launch)
        : formula(parse_formula(text, RandomFormulas::parameters())),
          scope(std::move(launch)),
          facts(prove_facts(formula.nodes, scope)) {}

    const FormulaAccess& access() const { return formula.accesses.front(); }
    LaneProgram program(Checking checking, std::int64_t largest_index) const {
        return {formula.nodes,      facts,    scope,        access().index,
                access().condition, checking, largest_index};
    }

    // The index of one thread: none where it is switched off; a fault where it fails.
    std::optional<ThreadValue> slow(std::uint64_t thread, std::int64_t largest_index) const {
        if (access().condition) {
            const ThreadValue test =
                evaluate_thread(formula.nodes, *access().condition, scope, thread);
            if (test.fault != Fault::none) return test;
            if (test.value == 0) return std::nullopt;
        }
        ThreadValue index = evaluate_thread(formula.nodes, access().index, scope, thread);
        if (index.fault != Fault::none) return index;
        index.where = access().index;
        if (index.value < 0) index.fault = Fault::negative_index;
        if (index.value > largest_index) index.fault = Fault::index_too_large;
        return index;
    }

    ParsedFormula formula;
    Scope scope;
    std::vector<NodeFacts> facts;
};

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::string told(const Subject& subject) {
    return subject.formula.text + "  threads " + std::to_string(subject.scope.threads) + " block " +
           text_of(subject.scope.block_shape) + " grid " + text_of(subject.scope.grid_shape) +
           " k " + std::to_string(subject.scope.values[0]) + " pitch " +
           std::to_string(subject.scope.values[1]);
}

TEST(FormulaEvaluator, does_32_lanes_as_one_thread_at_a_time_says) {
    RandomFormulas random(1);
    std::uint64_t compared = 0;
    std::uint64_t failing = 0;
    for (int round = 0; round < 30'000; ++round) {
        const std::string text = random.with_condition(2 + static_cast<int>(random.below(4)));
        const Subject subject(text, random.scope(300));
        const LaneProgram checked = subject.program(Checking::on, no_limit);
        const LaneProgram unchecked = subject.program(Checking::off, no_limit);
        std::array<std::uint64_t, warp_lanes> with_checks;
        std::array<std::uint64_t, warp_lanes> without;
        const std::uint64_t first = random.below(subject.scope.threads);
        const std::uint64_t lanes =
            std::min<std::uint64_t>(warp_lanes, subject.scope.threads - first);
        const bool failed = checked.run(first, with_checks.data());
        ASSERT_FALSE(unchecked.run(first, without.data()));
        bool should_fail = false;
        for (std::uint64_t lane = 0; lane < lanes; ++lane) {
            const auto expected = subject.slow(first + lane, no_limit);
            if (expected && expected->fault != Fault::none) {
                should_fail = true;
                continue;
            }
            const std::uint64_t element =
                expected ? static_cast<std::uint64_t>(expected->value) : idle_lane;
            ASSERT_EQ(without[lane], element) << told(subject) << " thread " << first + lane;
            ASSERT_EQ(with_checks[lane], element) << told(subject) << " thread " << first + lane;
            ++compared;
        }
        // Lanes beyond the launch may fail: nothing is proven about them.
        if (lanes == warp_lanes) {
            ASSERT_EQ(failed, should_fail) << told(subject) << " from thread " << first;
        } else if (should_fail) {
            ASSERT_TRUE(failed) << told(subject) << " from thread " << first;
        }
        failing += should_fail;
    }
    EXPECT_GT(compared, 200'000u);
    EXPECT_GT(failing, 500u);
}

// Divisions by a number that is known are multiplications; of hashes they have all 64 bits.
TEST(FormulaEvaluator, hashes_into_any_number_of_buckets) {
    RandomFormulas random(4);
    std::vector<std::uint64_t> counts{1,
                                      2,
                                      3,
                                      7,
                                      641,
                                      1ull << 31,
                                      (1ull << 31) + 1,
                                      (1ull << 62) - 1,
                                      1ull << 62,
                                      (1ull << 62) + 1,
                                      (1ull << 63) - 1};
    for (int k = 0; k < 200; ++k) counts.push_back(1 + random.below(~0ull >> (1 + k % 63)));
    Scope scope;
    scope.threads = 1 << 20;
    scope.block = 256;
    scope.block_shape = {256};
    scope.values = {0, 0};
    for (const std::uint64_t buckets : counts) {
        const std::uint64_t seed = random.below(100);
        const Subject subject(
            "hash(i, " + std::to_string(buckets) + ", " + std::to_string(seed) + ")", scope);
        std::array<std::uint64_t, warp_lanes> elements;
        const std::uint64_t first = random.below(1 << 15) * warp_lanes;
        subject.program(Checking::on, no_limit).run(first, elements.data());
        for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
            ASSERT_EQ(elements[lane], (Scatter{buckets, seed}(first + lane)))
                << buckets << " buckets";
    }
}

TEST(FormulaFacts, hold_for_every_node_in_every_thread) {
    RandomFormulas random(2);
    std::uint64_t repeating = 0;
    for (int round = 0; round < 4'000; ++round) {
        const Subject subject(random.expression(1 + static_cast<int>(random.below(4))),
                              random.scope(400));
        const NodeId root = subject.access().index;
        for (NodeId id = 0; id <= root; ++id) {
            const NodeFacts& facts = subject.facts[id];
            std::vector<ThreadValue> values;
            for (std::uint64_t thread = 0; thread < subject.scope.threads; ++thread)
                values.push_back(evaluate_thread(subject.formula.nodes, id, subject.scope, thread));
            for (std::uint64_t thread = 0; thread < values.size(); ++thread) {
                const ThreadValue& here = values[thread];
                if (here.fault != Fault::none) {
                    ASSERT_TRUE(facts.subtree_can_fail) << told(subject) << " node " << id;
                    continue;
                }
                ASSERT_LE(facts.range.low, here.value) << told(subject) << " node " << id;
                ASSERT_GE(facts.range.high, here.value) << told(subject) << " node " << id;
                if (!facts.sequence) continue;
                const std::uint64_t later = thread + facts.sequence->threads;
                if (later >= values.size() || values[later].fault != Fault::none) continue;
                ASSERT_EQ(values[later].value, here.value + facts.sequence->advance)
                    << told(subject) << " node " << id << " thread " << thread;
                ++repeating;
            }
        }
    }
    EXPECT_GT(repeating, 100'000u);
}

// Holds check_launch() against every thread, one by one; answers whether one of them fails.
bool fails_as_walked(const Subject& subject, std::int64_t largest) {
    LaunchExtent expected;
    std::string failure;
    for (std::uint64_t thread = 0; thread < subject.scope.threads && failure.empty(); ++thread) {
        const auto index = subject.slow(thread, largest);
        if (!index) continue;
        if (index->fault != Fault::none) {
            failure =
                launch_failure(subject.formula, subject.scope, thread, *index, largest).what();
            break;
        }
        ++expected.active_threads;
        expected.elements =
            std::max(expected.elements, static_cast<std::uint64_t>(index->value) + 1);
    }
    try {
        const LaunchExtent found =
            check_launch(subject.formula, subject.access(), subject.scope, subject.facts, largest);
        EXPECT_EQ(failure, "") << told(subject);
        EXPECT_EQ(found.active_threads, expected.active_threads) << told(subject);
        EXPECT_EQ(found.elements, expected.elements) << told(subject);
    } catch (const UsageError& error) {
        EXPECT_EQ(error.what(), failure) << told(subject) << " largest " << largest;
    }
    return !failure.empty();
}

TEST(LaunchCheck, finds_what_a_walk_over_all_threads_finds) {
    RandomFormulas random(3);
    int failing = 0;
    int by_period = 0;
    for (int round = 0; round < 6'000; ++round) {
        const Subject subject(random.with_condition(1 + static_cast<int>(random.below(4))),
                              random.scope(1500));
        const std::int64_t largest =
            random.one_in(2) ? no_limit : static_cast<std::int64_t>(random.below(3000));
        by_period += subject.facts[subject.access().index].common_period.has_value();
        failing += fails_as_walked(subject, largest);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(failing, 500);
    EXPECT_LT(failing, 5'000);
    EXPECT_GT(by_period, 2'000);
}

// Operators that have one value wherever they do not fail, and do fail in a few threads.
TEST(LaunchCheck, finds_failures_of_what_has_one_value) {
    constexpr const char* forms[] = {"0 / ({})",
                                     "0 % ({})",
                                     "0 << ({})",
                                     "({}) && (0 << ({}))",
                                     "({}) || 1 / ({})",
                                     "({}) ? 0 / ({}) : 0",
                                     "hash({}, min(1, {}))"};
    RandomFormulas random(7);
    int failing = 0;
    for (int round = 0; round < 6'000; ++round) {
        const auto operand = [&] { return random.expression(static_cast<int>(random.below(3))); };
        const char* form = forms[random.below(std::size(forms))];
        std::string text = fmt::format(fmt::runtime(form), operand(), operand());
        if (random.one_in(2)) text = fmt::format("i + ({})", text);
        if (random.one_in(4)) text = fmt::format("{} if {}", text, operand());
        failing += fails_as_walked(Subject(text, random.scope(300)), no_limit);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(failing, 1'000);
    EXPECT_LT(failing, 5'000);
}

}  // namespace
}  // namespace coalprof
