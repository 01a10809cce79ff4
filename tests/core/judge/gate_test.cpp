// Findings that a gate keeps, lines that it matches and annotations. The findings of compare and
// check are tested on the command line: tests/cli/gate_test.py.
#include "core/judge/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/judge/budget.h"
#include "core/judge/compare.h"
#include "core/judge/gate_formats.h"
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

void feed(ResultSink& sink, const ResultHead& head, const std::vector<Point>& points) {
    sink.begin(head);
    for (const Point& point : points) sink.point(point);
    sink.finish({});
}

GateReport compared(const ResultHead& older, const std::vector<Point>& before,
                    const ResultHead& newer, const std::vector<Point>& now) {
    Comparison comparison({.across = {"machine"}});
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

Point point_of_line(std::uint64_t line, std::uint64_t sectors, const char* kernel = "scale") {
    Point point;
    const std::string place = "a.cu:" + std::to_string(line);
    point.name = place + " ld.global.f32";
    point.parameters = {{"line", place}, {"kernel", kernel}, {"source_file", "/src/a.cu"}};
    point.predicted[Counter::load_sectors] = sectors;
    return point;
}

// A line was written above both loads: the second stands where none stood, the first where the
// second did.
TEST(Comparison, matches_lines_that_moved_by_their_order_within_the_kernel) {
    ResultHead head = synthetic::head();
    const GateReport report = compared(head, {point_of_line(3, 10), point_of_line(4, 20)}, head,
                                       {point_of_line(5, 20), point_of_line(4, 10)});
    EXPECT_EQ(report.points, 2u);
    EXPECT_EQ(report.code(), ExitCode::done);
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_NE(report.notes.front().find("a.cu:4 (was a.cu:3)"), std::string::npos);
}

TEST(Comparison, matches_lines_by_number_where_one_was_added) {
    ResultHead head = synthetic::head();
    const GateReport report =
        compared(head, {point_of_line(3, 10), point_of_line(4, 20)}, head,
                 {point_of_line(3, 10), point_of_line(4, 20), point_of_line(5, 7)});
    EXPECT_EQ(report.points, 2u);
    EXPECT_EQ(report.count(Kind::broken), 0u);
}

Point access_at(std::uint64_t line, const char* array, std::uint64_t sectors) {
    Point point = point_of_line(line, sectors);
    point.name += std::string(" ") + array;
    point.parameters.insert(point.parameters.end(), {{"op", "load"}, {"array", array}});
    point.predicted[Counter::load_ideal_sectors] = std::uint64_t{4};
    return point;
}

// Line 3 had 7 sectors and has 11; line 5 is new: worse only where it fetches more than it needs.
TEST(Comparison, has_one_sentence_for_each_source_line_that_differs) {
    const ResultHead head = synthetic::head();
    const std::vector<Point> older{access_at(3, "p", 7), access_at(4, "q", 8)};
    for (const std::uint64_t sectors : {4u, 5u}) {
        const GateReport report = compared(head, older, head,
                                           {access_at(3, "p", 7), access_at(3, "r", 4),
                                            access_at(4, "q", 8), access_at(5, "s", sectors)});
        ASSERT_EQ(report.lines_changed.size(), 2u);
        EXPECT_EQ(report.lines_changed[0].point, "a.cu:3");
        EXPECT_EQ(report.lines_changed[0].text, "a new load of r, +57.1 % sectors");
        EXPECT_EQ(report.lines_changed[0].kind, Kind::broken);
        EXPECT_EQ(report.lines_changed[1].kind, sectors > 4 ? Kind::broken : Kind::changed);
    }
    const GateReport fewer = compared(head, older, head, {access_at(3, "p", 14)});
    EXPECT_EQ(fewer.lines_changed.at(0).text, "load of p, +100 % sectors");
    EXPECT_EQ(fewer.lines_changed.at(1).text, "no more load of q, -100 % sectors");
    EXPECT_EQ(fewer.lines_changed.at(1).kind, Kind::better);
    const std::string text = gate_text(fewer);  // in place of its counters
    EXPECT_NE(text.find("a.cu:3: load of p"), text.npos);
    EXPECT_EQ(text.find("a.cu:3 ld.global.f32 p"), text.npos);
}

// The kernel's sum is worse, too, because of the line.
TEST(Budget, of_a_saved_result_is_broken_by_each_line_that_is_worse_and_not_allowed) {
    const ResultHead head = synthetic::head();
    Point kernel = point_of_line(0, 15);
    kernel.parameters = {{"line", "all"}, {"kernel", "scale"}};
    Point worse = kernel;
    worse.predicted[Counter::load_sectors] = std::uint64_t{22};
    const auto judged = [&](BudgetExceptions exceptions, std::vector<Point> newer) {
        auto base = std::make_unique<Comparison>(CompareOptions{});
        feed(base->older(), head, {kernel, access_at(3, "p", 7), access_at(4, "q", 8)});
        BudgetJudge judge({parse_budget("load_sectors <= 8")}, nullptr, std::move(exceptions));
        judge.hold_against(std::move(base), "base.json");
        feed(judge, head, newer);
        return std::move(judge).report();
    };
    const std::vector<Point> now{worse, access_at(3, "p", 14), access_at(4, "q", 8)};
    const GateReport broken = judged({}, now);
    ASSERT_EQ(broken.cases.size(), 2u);
    EXPECT_EQ(broken.cases[1].name(), "no line worse than in base.json");
    EXPECT_EQ(broken.cases[1].findings().at(0).point, "a.cu:3");
    for (const GateCase& one : broken.cases) {
        EXPECT_EQ(one.count(Kind::broken), 1u);
        EXPECT_EQ(one.held(), 1u);
    }
    for (const char* line : {"a.cu:3", "src/a.cu:3", "/src/a.cu:3"})
        EXPECT_EQ(judged({.lines = {line}}, now).code(), ExitCode::done) << line;
    for (const char* line : {"a.cu:4", "other/a.cu:3", "a.cu:33"}) {
        const GateReport report = judged({.lines = {line}}, now);
        EXPECT_EQ(report.code(), ExitCode::finding) << line;
        EXPECT_NE(report.notes.at(0).find("no such line"), std::string::npos);
    }
    EXPECT_EQ(judged({.lines = {"a.cu:3"}}, {now[0], now[1]}).code(), ExitCode::partial);
    EXPECT_EQ(judged({.may_lack = true, .lines = {"a.cu:3"}}, {now[0], now[1]}).code(),
              ExitCode::done);
}

TEST(Comparison, names_the_instruction_of_a_formula_that_changed) {
    ResultHead older = synthetic::head();
    older.sweep.pattern = "formula";
    older.sweep.formula = "c[i] = a[i] + b[2*i]";
    ResultHead newer = older;
    newer.sweep.formula = "c[i] = a[i] + b[3*i]";
    const auto point_with = [](const char* index) {
        Point point = synthetic::point(1);
        for (const auto& [array, its_index] : {std::pair{"a", "i"}, {"b", index}}) {
            InstructionResult& one = point.instructions.emplace_back();
            one.array = array;
            one.op = "load";
            one.index = its_index;
        }
        return point;
    };
    const auto notes = compared(older, {point_with("2*i")}, newer, {point_with("3*i")}).notes;
    EXPECT_NE(std::ranges::find(notes, "changed: load b[2*i] is load b[3*i] now"), notes.end());
}

TEST(Comparison, says_that_points_do_different_work) {
    Point older = synthetic::point(1);
    older.predicted[Counter::useful_bytes] = std::uint64_t{4096};
    Point newer = older;
    newer.predicted[Counter::useful_bytes] = std::uint64_t{8192};
    const ResultHead head = synthetic::head();
    const auto notes_of = [&](const Point& point) {
        return compared(head, {older}, head, {point}).notes.size();
    };
    EXPECT_EQ(notes_of(newer), 1u);
    EXPECT_EQ(notes_of(older), 0u);
}

std::size_t annotations_of(const GateReport& report) {
    const std::string text = gate_github(report);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("::error", at)) != text.npos; ++at) ++count;
    return count;
}

// The kernel's own row, the line that wastes and another line that wastes for the same reason.
TEST(GateFormats, annotate_each_cause_once_at_the_line_that_wastes_most) {
    BudgetJudge judge({parse_budget("load_sectors <= 8", "--budget")}, nullptr);
    judge.begin(synthetic::head());
    Point kernel = point_of_line(0, 40);
    kernel.name = "scale";
    kernel.parameters = {{"line", "all"}, {"kernel", "scale"}};
    for (const Point& point : {kernel, point_of_line(3, 30), point_of_line(4, 10)})
        judge.point(point);
    LineFinding finding{.point = "a.cu:3 ld.global.f32",
                        .others = {"a.cu:4 ld.global.f32"},
                        .kernel = "scale",
                        .cause = "strided",
                        .text = "Lanes are apart.",
                        .fix = "Move them.",
                        .like = {}};
    ResultTail tail;
    tail.findings.push_back(std::move(finding));
    judge.finish(tail);
    const GateReport report = std::move(judge).report();
    EXPECT_EQ(report.count(Kind::broken), 2u);  // the kernel and its lines are counted once
    EXPECT_EQ(annotations_of(report), 1u);
    EXPECT_NE(gate_github(report).find("file=/src/a.cu,line=3,"), std::string::npos);
    EXPECT_NE(gate_github(report).find("a.cu:3 ld.global.f32: "), std::string::npos);
    // The kernel's sum is no other finding.
    EXPECT_NE(gate_github(report).find("(1 more finding"), std::string::npos);
}

TEST(GateFormats, annotate_a_kernel_that_got_worse_at_its_line_alone) {
    Point kernel = point_of_line(0, 10);
    kernel.name = "scale";
    kernel.parameters = {{"line", "all"}, {"kernel", "scale"}};
    Point worse = kernel;
    worse.predicted[Counter::load_sectors] = std::uint64_t{30};
    const ResultHead head = synthetic::head();
    const GateReport report =
        compared(head, {kernel, point_of_line(3, 10)}, head, {worse, point_of_line(3, 30)});
    EXPECT_EQ(report.count(Kind::broken), 2u);
    EXPECT_EQ(annotations_of(report), 1u);
}

}  // namespace
}  // namespace coalprof
