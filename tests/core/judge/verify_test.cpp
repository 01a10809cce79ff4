#include "core/judge/verify.h"

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
    scope.ops = {op};
    return all_points(CatalogPoints(scope, find_machine("h200")));
}

// 131 sectors lie within [130, 133.5], 2 * 4.0961 us do not within [3.5, 5] us.
TEST(Verify, counts_the_intervals_that_hold_and_compares_no_estimate_exactly) {
    Point point = synthetic::estimated_point(1);
    point.measured = point.predicted;
    (*point.measured)[Counter::l2_read_sectors] = std::uint64_t{132};
    (*point.measured)[Counter::duration_seconds] = 8.2e-6;
    VerifyTotals totals;
    Tally tally(totals, nullptr);
    tally.begin({});
    tally.point(point);
    tally.point(point);
    EXPECT_TRUE(totals.findings.empty());
    EXPECT_EQ(totals.estimated[Counter::l2_read_sectors].held, 2u);
    EXPECT_EQ(totals.estimated[Counter::duration_seconds].held, 0u);
    EXPECT_EQ(totals.estimated[Counter::duration_seconds].measured, 2u);
    EXPECT_FALSE(totals.estimated.contains(Counter::load_sectors));
}

TEST(Verify, finds_points_that_failed_and_warnings_of_the_whole_run) {
    const Point failed = synthetic::failed_point(8);
    VerifyTotals totals;
    Tally tally(totals, nullptr);
    tally.begin({});
    tally.point(failed);
    tally.finish({.status = Status::partial,
                  .warnings = {{"W-MISMATCH", "a point", "told with it"},
                               {"W-NO-COUNTERS", "", "of no point"}}});
    EXPECT_EQ(totals.failed_points, 1u);
    ASSERT_EQ(totals.findings.size(), 2u);
    EXPECT_EQ(totals.findings[0].point, failed.name);
    EXPECT_EQ(totals.findings[0].text, failed.failure);
    EXPECT_EQ(totals.findings[1].text, "of no point");
    EXPECT_EQ(totals.status, Status::partial);
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
    scope.types = {ElementType::f32};
    scope.most_values = 2;
    std::vector<std::string> names;
    for (const PlannedPoint& point : points(scope, Op::copy)) names.push_back(point.name);
    // The first and the last of widths 256, 512 .. 4096: 1 MiB holds 64 rows of 4096 floats.
    EXPECT_THAT(
        names, testing::ElementsAre("transpose copy f32 width=256", "transpose copy f32 width=4096",
                                    "transpose tile copy f32 width=256",
                                    "transpose tile copy f32 width=4096",
                                    "transpose tile tile=16 copy f32 width=256",
                                    "transpose tile tile=16 copy f32 width=4096",
                                    "transpose padded tile=16 copy f32 width=256",
                                    "transpose padded tile=16 copy f32 width=4096",
                                    "transpose padded tile=32 copy f32 width=256",
                                    "transpose padded tile=32 copy f32 width=4096",
                                    "transpose padded tile=64 copy f32 width=256",
                                    "transpose padded tile=64 copy f32 width=4096",
                                    "transpose swizzled tile=16 copy f32 width=256",
                                    "transpose swizzled tile=16 copy f32 width=4096",
                                    "transpose swizzled tile=32 copy f32 width=256",
                                    "transpose swizzled tile=32 copy f32 width=4096",
                                    "transpose swizzled tile=64 copy f32 width=256",
                                    "transpose swizzled tile=64 copy f32 width=4096"));
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
