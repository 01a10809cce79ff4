// What a gate keeps of its findings, and points in few bytes. What compares and checks find is
// tested on the command line: tests/cli/gate_test.py.
#include "core/judge/gate.h"

#include <gtest/gtest.h>

#include "core/judge/compare.h"
#include "core/judge/packed_points.h"
#include "core/runtime/signal.h"
#include "core/write/synthetic.h"

namespace coalprof {
namespace {

using Kind = GateFinding::Kind;

TEST(GateCase, keeps_the_worst_findings_and_counts_all) {
    GateCase one("load_sectors");
    for (std::size_t i = 0; i < 2 * most_kept_findings; ++i)
        one.add({.kind = Kind::better, .weight = static_cast<double>(i)});
    for (std::size_t i = 0; i < 3; ++i)
        one.add({.kind = Kind::broken, .point = std::to_string(i), .weight = i == 1 ? 9.0 : 2.0});
    EXPECT_EQ(one.count(Kind::better), 2 * most_kept_findings);
    const auto findings = one.findings();
    ASSERT_EQ(findings.size(), most_kept_findings);
    EXPECT_EQ(findings[0].point, "1");  // the worst, then as they came
    EXPECT_EQ(findings[1].point, "0");
    EXPECT_EQ(findings[2].point, "2");
    EXPECT_EQ(findings[3].weight, static_cast<double>(2 * most_kept_findings - 1));
}

TEST(GateReport, is_a_finding_before_it_is_a_loss) {
    GateReport report;
    EXPECT_EQ(report.code(), ExitCode::done);
    report.losses.emplace_back("a point is missing");
    EXPECT_EQ(report.code(), ExitCode::partial);
    report.cases.emplace_back("x").add({.kind = Kind::broken});
    EXPECT_EQ(report.code(), ExitCode::finding);
}

TEST(PackedPoints, hold_every_number_of_a_point) {
    PackedPoints packed;
    const Point measured = synthetic::point(1);
    const Point failed = synthetic::failed_point(8);
    packed.add("a key", measured);
    packed.add(failed.name, failed);
    EXPECT_EQ(packed.key(0), "a key");
    EXPECT_EQ(packed.name(0), measured.name);
    EXPECT_EQ(packed.key(1), failed.name);
    Point point;
    packed.unpack(1, point);
    EXPECT_FALSE(point.failure.empty());
    EXPECT_FALSE(point.measured);
    packed.unpack(0, point);
    ASSERT_TRUE(point.measured && point.timing);
    EXPECT_EQ(point.timing->high_seconds, measured.timing->high_seconds);
    for (const CounterInfo& row : all_counters()) {
        const Reading& before = (*measured.measured)[row.counter];
        const Reading& now = (*point.measured)[row.counter];
        EXPECT_EQ(before.index(), now.index()) << row.key;
        EXPECT_TRUE(!is_number(before) || before == now) << row.key;
    }
}

TEST(PackedPoints, leave_nothing_of_the_point_that_was_unpacked_before) {
    PackedPoints packed;
    Point measured = synthetic::point(1);
    measured.estimates = synthetic::estimated_point(32).estimates;
    packed.add("measured", measured);
    packed.add("bare", Point{});
    Point point;
    packed.unpack(0, point);
    EXPECT_TRUE(point.measured && point.timing && point.estimates);
    packed.unpack(1, point);
    EXPECT_FALSE(point.measured || point.timing || point.estimates);
    EXPECT_FALSE(is_present(point.predicted[Counter::load_sectors]));
    EXPECT_EQ(point.name, "bare");
}

// Its reader has the reason; the newer one waits for nothing and compares with nothing.
TEST(Comparison, with_a_result_that_ended_before_its_head_is_given_up) {
    Comparison comparison({});
    comparison.end_older();
    EXPECT_THROW(comparison.newer().begin({}), Stopped);
}

GateReport compared(ResultHead older, std::vector<Point> before, ResultHead newer,
                    std::vector<Point> now) {
    Comparison comparison({.across = {"machine"}});
    const auto feed = [](ResultSink& sink, const ResultHead& head,
                         const std::vector<Point>& points) {
        sink.begin(head);
        for (const Point& point : points) sink.point(point);
        sink.finish({});
    };
    feed(comparison.older(), older, before);
    feed(comparison.newer(), newer, now);
    return comparison.report();
}

TEST(Comparison, loses_the_points_that_are_gone_and_notes_those_that_are_new) {
    const ResultHead head = synthetic::head();
    const std::vector<Point> two{synthetic::point(0), synthetic::point(1)};
    const GateReport fewer = compared(head, two, head, {synthetic::point(1)});
    EXPECT_EQ(fewer.losses.size(), 1u);
    EXPECT_EQ(fewer.code(), ExitCode::partial);
    const GateReport more = compared(head, {synthetic::point(1)}, head, two);
    EXPECT_EQ(more.notes.size(), 1u);
    EXPECT_EQ(more.code(), ExitCode::done);
}

TEST(Comparison, notes_that_more_is_known_of_the_machine_now) {
    const auto notes_of = [](const char* before, const char* now) {
        ResultHead older = synthetic::head();
        ResultHead newer = older;
        older.machine.evidence = before;
        newer.machine.evidence = now;
        return compared(older, {synthetic::point(1)}, newer, {synthetic::point(1)}).notes.size();
    };
    EXPECT_EQ(notes_of("rules documented", "rules measured"), 1u);
    EXPECT_EQ(notes_of("rules measured", "rules measured"), 0u);
}

// The other machine may not have it; on the same one it was lost.
TEST(Comparison, misses_a_counter_only_where_the_machine_is_the_same) {
    Point older = synthetic::point(1);
    older.measured.reset();
    Point newer = older;
    newer.predicted[Counter::load_sectors] = Unavailable{"for a reason"};
    ResultHead head = synthetic::head();
    EXPECT_EQ(compared(head, {older}, head, {newer}).code(), ExitCode::partial);
    head.machine.name = "c2050";
    EXPECT_EQ(compared(synthetic::head(), {older}, head, {newer}).code(), ExitCode::done);
}

}  // namespace
}  // namespace coalprof
