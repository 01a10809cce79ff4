#include "core/run/settings_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/count/footprint.h"
#include "core/count/predict.h"
#include "core/sweep/all_points.h"
#include "core/sweep/sweep.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using Basis = Verdict::Basis;

// The classic four variants.
Sweep four_variants(const std::string& pattern, std::vector<std::uint64_t> values,
                    const std::string& machine, ElementType type = ElementType::f32) {
    Sweep sweep;
    sweep.pattern = pattern;
    sweep.values = std::move(values);
    sweep.launch.op = Op::load;
    sweep.launch.type = type;
    take_option(sweep, "dlcm", "ca,cg");
    take_option(sweep, "carveout", "prefer-l1,prefer-shared");
    sweep.machines = {find_machine(machine)};
    return sweep;
}

std::vector<Verdict> judged(const Sweep& sweep,
                            const std::function<void(const PlannedPoint&, Point&)>& measure = {}) {
    SettingsJudge judge;
    for (const PlannedPoint& planned : all_points(SweepPoints(sweep))) {
        Point point;
        point.predicted = Predictor(planned.machine).predict_launch(planned.plan, {});
        if (measure) measure(planned, point);
        judge.add(planned, point);
    }
    return judge.verdicts();
}

std::string text_in(const NamedValues& values, const std::string& key) {
    for (const auto& [name, value] : values)
        if (name == key) return std::get<std::string>(value);
    return "not there";
}

// Loads past L1 are `faster` times as fast as the others, by estimates whose intervals reach from
// `low` to `high` times what is likely.
std::vector<Verdict> judged_past_l1(Sweep sweep, double faster, double low, double high) {
    take_option(sweep, "carveout", "driver");
    return judged(sweep, [=](const PlannedPoint& planned, Point& point) {
        constexpr Counter bandwidth = Counter::bandwidth_bytes_per_second;
        const double rate = planned.plan.cache.dlcm == LoadModifier::cg ? faster * 1e9 : 1e9;
        point.predicted[bandwidth] = rate;
        point.estimates =
            Estimates{.intervals = {{bandwidth, rate * low, rate * high}}, .limits = {Limit::dram}};
    });
}

// A point that took so long, with a spread of 1 %.
void took(Point& point, double seconds) {
    point.timing = Timing{.repeats = 20,
                          .median_seconds = seconds,
                          .low_seconds = 0.995 * seconds,
                          .high_seconds = 1.005 * seconds};
}

// Stride 32 of floats on Fermi: through L1 a line of 128 bytes for each element, past it a segment
// of 32. Stride 1 costs the same either way: (1 + 32) / (1 + 8) = 3.67.
TEST(SettingsJudge, prefers_segments_to_lines_for_scattered_loads_on_fermi) {
    const auto verdicts = judged(four_variants("stride", {1, 32}, "c2050"));
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::predicted_bandwidth);
    EXPECT_EQ(verdicts[0].combinations, 4u);
    EXPECT_EQ(verdicts[0].values, 2u);
    ASSERT_EQ(verdicts[0].best.size(), 2u);
    for (const NamedValues& settings : verdicts[0].best) EXPECT_EQ(text_in(settings, "dlcm"), "cg");
    EXPECT_NEAR(verdicts[0].gain, 33.0 / 9, 0.01);
    EXPECT_EQ(
        verdicts[0].text,
        "dlcm cg (carveout does not matter), by predicted bandwidth over 2 values: 3.67 times "
        "better than dlcm ca, carveout prefer-l1");
}

// What was timed before the data turned out wrong is no measurement: one value of two is left.
TEST(SettingsJudge, does_not_go_by_times_of_points_that_failed) {
    Sweep sweep = four_variants("stride", {1, 32}, "h200");
    take_option(sweep, "carveout", "driver");
    const auto verdicts = judged(sweep, [](const PlannedPoint& planned, Point& point) {
        const bool is_cg = planned.plan.cache.dlcm == LoadModifier::cg;
        took(point, planned.plan.value == 1 ? (is_cg ? 2e-6 : 1e-6) : (is_cg ? 1e-6 : 9e-6));
        if (planned.plan.value == 32 && is_cg) point.failure = "wrong data";
    });
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::measured_time);
    EXPECT_EQ(verdicts[0].values, 1u);
    EXPECT_NEAR(verdicts[0].gain, 2, 0.001);
}

// A bare compute capability has no bandwidth, but the same traffic.
TEST(SettingsJudge, falls_back_on_traffic_where_no_board_is_named) {
    const auto verdicts = judged(four_variants("stride", {1, 32}, "2.0"));
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::predicted_traffic);
    EXPECT_NEAR(verdicts[0].gain, 33.0 / 9, 0.01);
}

// 2^20 floats 64 bytes apart: fetched by 32 bytes they are 32 MiB, which the 60 MiB of an H200's L2
// hold, so that there is no bandwidth; by 128 bytes 64 MiB, of which there is one.
TEST(SettingsJudge, falls_back_on_traffic_where_l2_holds_the_launch) {
    Sweep sweep = four_variants("stride", {16}, "h200");
    sweep.memory_axes.clear();
    sweep.launch = {};
    sweep.launch.op = Op::load;
    take_option(sweep, "l2_fetch", "32,128");
    const auto verdicts = judged(sweep);
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::predicted_traffic);
    EXPECT_NEAR(verdicts[0].gain, 2, 0.001);
}

// Three times as fast, by estimates that are sure of a factor of three: the slower one may take
// 1/1.1 of the time that the faster one may.
TEST(SettingsJudge, says_which_is_likely_where_intervals_overlap) {
    const auto verdicts =
        judged_past_l1(four_variants("stride", {16, 32}, "h200"), 3, 1.0 / 3, 1.1);
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].best.size(), 2u);
    EXPECT_NEAR(verdicts[0].gain, 3, 0.01);
    EXPECT_THAT(verdicts[0].text, HasSubstr("dlcm cg is 3 times better than dlcm ca"));
    EXPECT_THAT(verdicts[0].text, HasSubstr("overlap"));
}

// Past L1 a tenth faster, as the times of the same output say, if not for certain: what L1 could
// keep is no reason against them.
TEST(SettingsJudge, does_not_contradict_the_likely_times_by_what_l1_keeps) {
    const auto verdicts = judged_past_l1(four_variants("offset", {1}, "h200"), 1.1, 0.5, 2);
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::predicted_bandwidth);
    EXPECT_EQ(verdicts[0].best.size(), 2u);
    EXPECT_NEAR(verdicts[0].gain, 1.1, 0.01);
}

TEST(SettingsJudge, says_where_nothing_tells_combinations_apart) {
    // Offset 0: no warp shares a line with another, and every byte that is fetched is used.
    const auto verdicts = judged(four_variants("offset", {0}, "c2050"));
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].best.size(), 4u);
    EXPECT_EQ(verdicts[0].gain, 1);
    EXPECT_EQ(verdicts[0].text,
              "no difference between the 4 combinations by predicted bandwidth over 1 value");
}

// Offset 1 of 16-byte elements: 48 warps of a multiprocessor touch 4 lines each and one more at the
// end, 193 x 128 = 24704 bytes, and each shares one with its neighbour. 48 KiB of L1 hold them, 16
// KiB do not, and past L1 nothing is held.
TEST(SettingsJudge, prefers_the_split_whose_l1_holds_what_warps_share) {
    const Sweep sweep = four_variants("offset", {1}, "c2050", ElementType::f32x4);
    const PlannedPoint point = SweepPoints(sweep).at(0);
    const auto set = l1_working_set(*point.machine.rules, point.plan);
    ASSERT_TRUE(set);
    EXPECT_EQ(set->bytes, 24704u);
    EXPECT_TRUE(set->is_shared);
    const auto verdicts = judged(sweep);
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::predicted_l1_reuse);
    ASSERT_EQ(verdicts[0].best.size(), 1u);
    EXPECT_EQ(text_in(verdicts[0].best[0], "dlcm"), "ca");
    EXPECT_EQ(text_in(verdicts[0].best[0], "carveout"), "prefer-l1");
}

// 4-byte elements: 49 lines, 6 KiB, which either split holds.
TEST(SettingsJudge, finds_the_split_of_no_matter_where_both_hold_what_is_shared) {
    const auto verdicts = judged(four_variants("offset", {1}, "c2050"));
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].best.size(), 2u);
    EXPECT_THAT(verdicts[0].text, HasSubstr("dlcm ca (carveout does not matter)"));
}

TEST(SettingsJudge, goes_by_measured_time_where_there_is_one) {
    const auto verdicts = judged(
        four_variants("stride", {1, 32}, "c2050"), [](const PlannedPoint& planned, Point& p) {
            const bool is_best = planned.plan.cache.dlcm == LoadModifier::ca &&
                                 planned.plan.cache.carveout->shared_percent == 100;
            took(p, is_best ? 1e-5 : 2e-5);  // whatever the model says
        });
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::measured_time);
    ASSERT_EQ(verdicts[0].best.size(), 1u);
    EXPECT_EQ(text_in(verdicts[0].best[0], "carveout"), "prefer-shared");
    EXPECT_NEAR(verdicts[0].gain, 2, 1e-9);
}

// Quartiles that overlap, or less than 1 %.
TEST(SettingsJudge, calls_measured_times_alike_that_lie_within_their_spread) {
    double seconds = 1e-5;
    const auto verdicts =
        judged(four_variants("stride", {1}, "c2050"),
               [&](const PlannedPoint&, Point& point) { took(point, seconds *= 1.003); });
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].best.size(), 4u);
    EXPECT_THAT(verdicts[0].text,
                HasSubstr("no difference between the 4 combinations by measured time"));
}

TEST(SettingsJudge, tells_at_how_many_values_another_is_better) {
    Sweep sweep = four_variants("stride", {1, 2, 3, 4}, "c2050");
    take_option(sweep, "carveout", "driver");
    const auto verdicts = judged(sweep, [](const PlannedPoint& planned, Point& point) {
        const bool is_ca = planned.plan.cache.dlcm == LoadModifier::ca;
        // ca wins by far at 1, and loses by a tenth everywhere else.
        took(point, planned.plan.value == 1 ? (is_ca ? 1e-5 : 9e-5) : (is_ca ? 1.1e-5 : 1e-5));
    });
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(text_in(verdicts[0].best.at(0), "dlcm"), "ca");
    EXPECT_THAT(verdicts[0].text, HasSubstr("; at 3 of them another is better"));
}

TEST(SettingsJudge, leaves_out_values_at_which_a_combination_failed) {
    const auto verdicts =
        judged(four_variants("stride", {1, 2}, "c2050"), [](const PlannedPoint& planned, Point& p) {
            if (planned.plan.value == 2 && planned.plan.cache.dlcm == LoadModifier::cg)
                p.failure = "not enough GPU memory";
            else
                took(p, 1e-5);
        });
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].values, 1u);
}

TEST(SettingsJudge, gives_each_machine_a_verdict_of_its_own) {
    Sweep sweep = four_variants("stride", {32}, "c2050");
    sweep.machines.push_back(find_machine("h200"));
    const auto verdicts = judged(sweep);
    ASSERT_EQ(verdicts.size(), 2u);
    EXPECT_EQ(text_in(verdicts[0].scope, "machine"), "c2050");
    EXPECT_EQ(text_in(verdicts[0].best.at(0), "dlcm"), "cg");
    EXPECT_EQ(text_in(verdicts[1].scope, "machine"), "h200");
    EXPECT_EQ(verdicts[1].best.size(), 4u);  // sectors either way
}

TEST(SettingsJudge, has_nothing_to_say_of_a_single_combination) {
    Sweep sweep = four_variants("stride", {1, 2}, "c2050");
    take_option(sweep, "dlcm", "ca");
    take_option(sweep, "carveout", "prefer-l1");
    EXPECT_TRUE(judged(sweep).empty());
}

TEST(SettingsJudge, does_not_compare_what_is_not_known) {
    Sweep sweep = four_variants("offset", {0}, "h200");
    sweep.memory_axes.clear();
    sweep.launch = {};
    sweep.launch.op = Op::load;
    take_option(sweep, "alloc", "device,host");
    const auto verdicts = judged(sweep);
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].basis, Basis::none);
    EXPECT_TRUE(verdicts[0].best.empty());
    EXPECT_THAT(verdicts[0].text, HasSubstr("only a measurement tells"));
}

TEST(Sweep, says_what_each_split_leaves_for_l1) {
    for (const PlannedPoint& point :
         all_points(SweepPoints(four_variants("offset", {1}, "c2050")))) {
        const bool prefers_l1 = point.plan.cache.carveout->shared_percent == 0;
        EXPECT_EQ(std::get<std::int64_t>(point.parameters.back().second), prefers_l1 ? 48 : 16);
        EXPECT_EQ(point.parameters.back().first, "l1_kib");
        EXPECT_THAT(point.name, testing::Not(HasSubstr("l1_kib")));
    }
}

}  // namespace
}  // namespace coalprof
