// What text says of budgets, and where they hold. What a check prints is tested on the command
// line: tests/cli/gate_test.py.
#include "core/gate/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = GateFinding::Kind;

std::string budget_refusal(const std::string& text) {
    try {
        parse_budget(text);
        return "accepted";
    } catch (const UsageError& error) {
        return error.what();
    }
}

Point point_with(NamedValues parameters, std::uint64_t sectors) {
    Point point;
    point.name = "p";
    point.parameters = std::move(parameters);
    point.predicted[Counter::load_sectors] = sectors;
    return point;
}

GateReport report_of(const std::string& budget, const std::vector<Point>& points) {
    BudgetJudge judge({parse_budget(budget)});
    judge.begin({});
    for (const Point& point : points) judge.point(point);
    judge.finish({});
    return std::move(judge).report();
}

TEST(Budget, has_every_condition_that_its_text_has) {
    const Budget budget = parse_budget("load_sectors <= 4 if stride=4,1..2 and dlcm=ca,c*");
    ASSERT_EQ(budget.conditions.size(), 2u);
    EXPECT_EQ(budget.conditions[0].name, "stride");
    EXPECT_THAT(budget.conditions[0].numbers, ElementsAre(1, 2, 4));  // sorted
    EXPECT_EQ(budget.conditions[1].name, "dlcm");
    EXPECT_THAT(budget.conditions[1].words, ElementsAre("ca", "c*"));
    EXPECT_TRUE(parse_budget("load_sectors <= 4").conditions.empty());
}

TEST(Budget, that_makes_no_sense_is_refused_with_what_was_expected) {
    EXPECT_THAT(budget_refusal("<= 4"), HasSubstr("expected a counter"));
    EXPECT_THAT(budget_refusal("load_sector <= 4"), HasSubstr("load_sector"));
    EXPECT_THAT(budget_refusal("load_sectors 4"), HasSubstr("expected <="));
    EXPECT_THAT(budget_refusal("load_sectors <= -1"), HasSubstr("a number from 0"));
    EXPECT_THAT(budget_refusal("load_sectors <= 1e999"), HasSubstr("a number from 0"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4us"), HasSubstr("takes none"));
    EXPECT_THAT(budget_refusal("load_efficiency >= 50"), HasSubstr("50 of it would be 5000 %"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 of stride=1"), HasSubstr("expected 'if'"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if stride"), HasSubstr("expected a condition"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if stride="), HasSubstr("expected a value"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if a=1 or b=1"), HasSubstr("expected 'and'"));
    EXPECT_THAT(budget_refusal("load_sectors <= " + std::string(5000, '4')), HasSubstr("too long"));
}

TEST(Budget, holds_only_where_all_its_conditions_are_fulfilled) {
    const GateReport report = report_of("load_sectors <= 4 if stride=2 and dlcm=ca",
                                        {point_with({{"stride", 2}, {"dlcm", "ca"}}, 4),
                                         point_with({{"stride", 1}, {"dlcm", "ca"}}, 9),
                                         point_with({{"stride", 2}, {"dlcm", "cg"}}, 9)});
    EXPECT_EQ(report.cases.at(0).held(), 1u);
    EXPECT_EQ(report.code(), ExitCode::done);
    EXPECT_EQ(report.points, 3u);
}

}  // namespace
}  // namespace coalprof
