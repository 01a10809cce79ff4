#include "core/judge/verify.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "core/sweep/all_points.h"
#include "core/sweep/patterns.h"
#include "core/write/synthetic.h"

namespace coalprof {
namespace {

std::set<std::string> patterns_of(const std::vector<PlannedPoint>& points) {
    std::set<std::string> patterns;
    for (const PlannedPoint& point : points) patterns.insert(point.plan.pattern);
    return patterns;
}

std::vector<PlannedPoint> points(VerifyScope scope, Op op) {
    scope.ops = name_of(op);
    return all_points(CatalogPoints(scope, find_machine("h200")));
}

GateReport judged(const std::vector<Point>& points, const ResultTail& tail = {}) {
    VerifyJudge judge(nullptr);
    ResultHead head;
    head.device = MeasuredDevice{.name = "a GPU"};
    judge.begin(head);
    for (const Point& point : points) judge.point(point);
    judge.finish(tail);
    return judge.report();
}

// 131 sectors lie within [130, 133.5], 2 * 4.0961 us do not within [3.5, 5] us.
TEST(Verify, counts_the_intervals_that_hold_and_compares_no_estimate_exactly) {
    Point point = synthetic::estimated_point(1);
    point.measured = point.predicted;
    (*point.measured)[Counter::l2_read_sectors] = std::uint64_t{132};
    (*point.measured)[Counter::duration_seconds] = 8.2e-6;
    const GateReport report = judged({point, point});
    EXPECT_EQ(report.code(), ExitCode::done);
    EXPECT_THAT(report.notes,
                testing::IsSupersetOf({testing::HasSubstr("l2_read_sectors: 2 of 2"),
                                       testing::HasSubstr("duration_seconds: 0 of 2")}));
    EXPECT_THAT(report.notes, testing::Not(testing::Contains(testing::HasSubstr("load_sectors"))));
}

TEST(Verify, finds_counters_that_differ_and_says_how_many_agree) {
    Point point = synthetic::point(1);
    point.measured = point.predicted;
    const GateReport same = judged({point});
    EXPECT_EQ(same.code(), ExitCode::done);
    (*point.measured)[Counter::load_sectors] =
        std::get<std::uint64_t>(point.predicted[Counter::load_sectors]) + 1;
    const GateReport report = judged({point});
    EXPECT_EQ(report.code(), ExitCode::finding);
    EXPECT_EQ(report.cases.front().held() + 1, same.cases.front().held());
    ASSERT_EQ(report.cases.front().findings().size(), 1u);
    const GateFinding found = report.cases.front().findings().front();
    EXPECT_EQ(found.counter, "load_sectors");
    EXPECT_EQ(found.now.value() - found.before.value(), 1);
    EXPECT_THAT(report.headline, testing::HasSubstr(fmt::format("{} of {} counters of 1 points",
                                                                report.cases.front().held(),
                                                                same.cases.front().held())));
}

TEST(Verify, is_partial_where_points_failed_and_where_the_whole_run_has_a_warning) {
    const Point failed = synthetic::failed_point(8);
    const GateReport report = judged({failed});
    EXPECT_EQ(report.code(), ExitCode::partial);
    ASSERT_EQ(report.cases.front().findings().size(), 1u);
    EXPECT_EQ(report.cases.front().findings().front().point, failed.name);
    const GateReport warned = judged({}, {.warnings = {{"W-MISMATCH", "a point", "told with it"},
                                                       {"W-NO-COUNTERS", "", "of no point"}}});
    EXPECT_THAT(warned.losses, testing::ElementsAre("of no point"));
}

TEST(Verify, leaves_no_pattern_of_the_catalog_out) {
    std::set<std::string> seen = patterns_of(points({}, Op::load));
    seen.merge(patterns_of(points({}, Op::copy)));
    for (const PatternInfo& pattern : pattern_catalog())
        EXPECT_TRUE(seen.contains(std::string(pattern.name))) << pattern.name;
}

TEST(Verify, measures_every_variant_of_the_transpose_and_names_it) {
    VerifyScope scope;
    scope.patterns = {"transpose"};
    scope.types = "f32";
    scope.most_values = 2;
    std::vector<std::string> names;
    for (const PlannedPoint& point : points(scope, Op::copy)) names.push_back(point.name);
    // The first and the last of widths 256, 512 .. 4096: 1 MiB holds 64 rows of 4096 floats.
    std::vector<std::string> expected;
    for (const char* variant :
         {"variant=naive", "variant=tile tile=16", "variant=tile tile=32", "variant=tile tile=64",
          "variant=padded tile=16", "variant=padded tile=32", "variant=padded tile=64",
          "variant=swizzled tile=16", "variant=swizzled tile=32", "variant=swizzled tile=64"})
        for (const char* width : {"width=256", "width=4096"})
            expected.push_back(fmt::format("transpose {} {}", width, variant));
    EXPECT_THAT(names, testing::UnorderedElementsAreArray(expected));
    EXPECT_TRUE(points(scope, Op::load).empty());
}

TEST(Verify, asks_nothing_of_a_memory_that_it_cannot_do) {
    for (const PlannedPoint& point : points({}, Op::atomic))
        for (const Instruction& one : point.plan.program.instructions)
            EXPECT_EQ(one.space, Space::global) << point.name;
    for (const PlannedPoint& point : points({}, Op::store))
        EXPECT_NE(point.plan.pattern, "constant");
}

}  // namespace
}  // namespace coalprof
