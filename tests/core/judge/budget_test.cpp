// What text says of budgets, and where they hold. What a check prints is tested on the command
// line: tests/cli/gate_test.py.
#include "core/judge/budget.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"
#include "core/text/refusal.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = GateFinding::Kind;

std::string budget_refusal(const std::string& text) {
    return std::string(usage_error_of([&] { parse_budget(text); }).what());
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
    ASSERT_TRUE(budget.conditions[0].numbers);
    for (const std::uint64_t stride : {0u, 1u, 2u, 3u, 4u, 5u})
        EXPECT_EQ(budget.conditions[0].numbers->contains(stride),
                  stride == 1 || stride == 2 || stride == 4)
            << stride;
    EXPECT_EQ(budget.conditions[1].name, "dlcm");
    EXPECT_THAT(budget.conditions[1].words, ElementsAre("ca", "c*"));
    EXPECT_TRUE(parse_budget("load_sectors <= 4").conditions.empty());
}

// Exceptions: of a condition on lines the whole kernel is none, and a misspelt name is no
// exception.
TEST(Budget, has_conditions_that_exclude) {
    const std::vector<Point> points{point_with({{"kernel", "k"}, {"line", "all"}}, 40),
                                    point_with({{"kernel", "k"}, {"line", "a.cu:9"}}, 32),
                                    point_with({{"kernel", "k"}, {"line", "a.cu:10"}}, 8)};
    const auto counts = [&](const char* condition) {
        const GateReport report =
            report_of(fmt::format("load_sectors <= 8 if {}", condition), points);
        return std::pair(report.cases.at(0).held(), report.count(Kind::broken));
    };
    EXPECT_EQ(counts("line!=a.cu:9"), std::pair(1ul, 0ul));
    EXPECT_EQ(counts("line!=a.cu:10"), std::pair(0ul, 1ul));
    EXPECT_EQ(counts("line!=a.cu:*"), std::pair(0ul, 0ul));
    EXPECT_EQ(counts("kernel!=k"), std::pair(0ul, 0ul));
    EXPECT_EQ(report_of("load_sectors <= 8 if lien!=a.cu:9", points).code(), ExitCode::partial);
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if line!a.cu:9"), HasSubstr("condition"));
}

TEST(Budget, may_lack_its_points) {
    for (const bool may_lack : {false, true}) {
        BudgetJudge judge({parse_budget("load_sectors <= 4 if kernel=gone")}, nullptr,
                          {.may_lack = may_lack});
        judge.begin({});
        judge.point(point_with({{"kernel", "here"}}, 4));
        judge.finish({});
        const GateReport report = std::move(judge).report();
        EXPECT_EQ(report.code(), may_lack ? ExitCode::done : ExitCode::partial);
        EXPECT_EQ(report.notes.size(), may_lack ? 1u : 0u);
    }
}

// Results have blanks where C has them, and commas that are no lists.
TEST(Budget, has_conditions_on_values_with_blanks_and_commas) {
    for (const auto& [condition, value, fits] :
         {std::tuple{"index=i*1024+k", "i*1024 + k", true},
          {"index=i*1024 + k", "i*1024 + k", true},
          {"index=\"i*1024 + k\"", "i*1024 + k", true},
          {"index='i*2'", "i*2", true},
          {"index='i*2'", "i*1024 + 2", false},  // quoted: * is itself
          {"index='a', 'i < 2'", "i < 2", false},
          {"index='a','i < 2'", "i < 2", true},
          {"index=i + k and index=*", "i+k", true},
          {"index=\"scale<4, float>\"", "scale<4, float>", true}}) {
        const std::string budget = fmt::format("load_sectors <= 4 if {}", condition);
        if (condition == std::string_view("index='a', 'i < 2'")) {
            EXPECT_THAT(budget_refusal(budget), HasSubstr("quoted"));
            continue;
        }
        const auto report = report_of(budget, {point_with({{"array", "a"}, {"index", value}}, 4)});
        EXPECT_EQ(report.cases.at(0).held(), fits ? 1u : 0u) << condition;
    }
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if index='i"), HasSubstr("not closed"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if kernel=a b=c"), HasSubstr("expected 'and'"));
}

TEST(Budget, of_what_points_do_not_have_lists_what_they_have) {
    const auto report = report_of("load_sectors <= 4 if instruction=2",
                                  {point_with({{"stride", 2}, {"dlcm", "ca"}}, 4)});
    const std::string text = report.cases.at(0).findings().at(0).text;
    for (const char* name : {"'instruction'", "stride", "dlcm", "name"})
        EXPECT_THAT(text, HasSubstr(name));
}

// Loads of 20 sectors where 10 do, stores of 10 that are 10: 50 % of all.
TEST(Budget, of_the_excess_takes_all_accesses_together) {
    Point point = point_with({}, 20);
    point.predicted[Counter::load_ideal_sectors] = std::uint64_t{10};
    point.predicted[Counter::store_sectors] = std::uint64_t{10};
    EXPECT_EQ(report_of("excess <= 50%", {point}).cases.at(0).held(), 0u);  // stores: unknown
    point.predicted[Counter::store_ideal_sectors] = std::uint64_t{10};
    EXPECT_EQ(report_of("excess <= 50%", {point}).cases.at(0).held(), 1u);
    const GateReport broken = report_of("excess < 50%", {point});
    EXPECT_EQ(broken.cases.at(0).findings().at(0).now, 0.5);
    EXPECT_EQ(broken.cases.at(0).findings().at(0).counter, "excess");
}

// As `coalprof run` writes it: kernels that it judged without or with their lines.
Point kernel_row(const char* kernel, double excess) {
    Point point = point_with({{"kernel", kernel}, {"excess", excess}, {"verdict", "word"}}, 0);
    point.name = std::string(kernel) + " grid=1";
    point.predicted.clear();
    return point;
}
Point line_row(const char* kernel, std::uint64_t sectors) {
    Point point = point_with({{"line", "app.cu:12"}, {"kernel", kernel}}, sectors);
    point.name = "app.cu:12";
    point.predicted[Counter::load_ideal_sectors] = std::uint64_t{10};
    return point;
}

TEST(Budget, of_the_excess_knows_kernels_of_a_run_by_what_the_table_shows) {
    const GateReport report =
        report_of("excess <= 50%", {kernel_row("good", 0.25), kernel_row("bad", 7.0)});
    EXPECT_EQ(report.cases.at(0).held(), 1u);
    EXPECT_EQ(report.cases.at(0).findings().at(0).point, "bad grid=1");
    EXPECT_EQ(report.cases.at(0).findings().at(0).side, "measured");
    Point formula = kernel_row("typed", 0.25);  // excess is a variable of the user's own here
    formula.parameters = {{"kernel", "typed"}, {"excess", 7}};
    EXPECT_EQ(report_of("excess <= 50%", {formula}).count(Kind::broken), 0u);
}

TEST(Budget, counts_a_kernel_and_its_line_once) {
    const auto judged = [](double excess, std::uint64_t sectors) {
        const GateReport report =
            report_of("excess <= 50%", {kernel_row("scale", excess), line_row("scale", sectors)});
        const auto findings = report.cases.at(0).findings();
        return fmt::format("{} kept, {} broken {}", report.cases.at(0).held(), findings.size(),
                           findings.empty() ? "" : findings.front().point);
    };
    EXPECT_EQ(judged(0.1, 11), "1 kept, 0 broken ");
    EXPECT_EQ(judged(7, 80), "0 kept, 1 broken app.cu:12");
    EXPECT_EQ(judged(0.1, 80), "0 kept, 1 broken app.cu:12");
    EXPECT_EQ(judged(7, 11), "1 kept, 1 broken scale grid=1");
    Point all = line_row("scale", 80);  // as `coalprof kernel` writes it
    all.parameters.front().second = "all";
    EXPECT_EQ(report_of("excess <= 50%", {all, line_row("scale", 80)}).count(Kind::broken), 1u);
    EXPECT_EQ(report_of("excess <= 50%", {all}).count(Kind::broken), 1u);
}

// A range is kept as it was typed, whatever it stands for.
TEST(Budget, holds_no_values_of_its_ranges) {
    const Budget budget = parse_budget(
        "load_sectors <= 4 if stride=-50000..49999 and tile_bytes=1KiB..100000KiB:1KiB");
    ASSERT_EQ(budget.conditions.size(), 2u);
    for (const BudgetCondition& condition : budget.conditions) {
        ASSERT_TRUE(condition.numbers);
        EXPECT_EQ(condition.numbers->count(), 100000u);
        EXPECT_EQ(condition.words.size(), 1u);
    }
    const auto strides = [&](std::int64_t stride) {
        return budget.conditions[0].numbers->contains(static_cast<std::uint64_t>(stride));
    };
    EXPECT_TRUE(strides(-50000));
    EXPECT_TRUE(strides(-1));
    EXPECT_TRUE(strides(49999));
    EXPECT_FALSE(strides(-50001));
    EXPECT_FALSE(strides(50000));
    EXPECT_TRUE(budget.conditions[1].numbers->contains(2048));
    EXPECT_FALSE(budget.conditions[1].numbers->contains(2049));
}

// All budgets together keep so many findings, however many there are; every one is counted.
TEST(Budget, keeps_fewer_findings_of_each_the_more_there_are) {
    const std::size_t budgets = 1000;
    BudgetJudge judge(std::vector<Budget>(budgets, parse_budget("load_sectors <= 4")));
    judge.begin({});
    for (std::uint64_t sectors = 1; sectors <= 400; ++sectors) judge.point(point_with({}, sectors));
    judge.finish({});
    const GateReport report = std::move(judge).report();
    std::size_t kept = 0;
    for (const GateCase& one : report.cases) {
        EXPECT_EQ(one.count(GateFinding::Kind::broken), 396u);
        kept += one.findings().size();
        EXPECT_EQ(one.findings().front().now, 400.0);
    }
    EXPECT_LE(kept, 100'000u);
}

TEST(Budget, that_makes_no_sense_is_refused_with_what_was_expected) {
    EXPECT_THAT(budget_refusal("<= 4"), HasSubstr("expected a counter"));
    EXPECT_THAT(budget_refusal("load_sector <= 4"), HasSubstr("load_sector"));
    EXPECT_THAT(budget_refusal("load_sectors 4"), HasSubstr("expected <="));
    EXPECT_THAT(budget_refusal("load_sectors <= -1"), HasSubstr("a number from 0"));
    EXPECT_THAT(budget_refusal("load_sectors <= 1e999"), HasSubstr("a number from 0"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4us"), HasSubstr("takes none"));
    EXPECT_THAT(budget_refusal("load_efficiency >= 50"), HasSubstr("50 of it would be 5000 %"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 of stride=1"), HasSubstr("'of' is no unit"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if stride"), HasSubstr("expected a condition"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if stride="), HasSubstr("expected a value"));
    EXPECT_THAT(budget_refusal("load_sectors <= 4 if a=1 or b=1"), HasSubstr("expected 'and'"));
    for (const char* joined : {"name=matvec,array=A", "stride=1..8,offset=3", "size_bytes=4,k=1"})
        EXPECT_THAT(budget_refusal(std::string("load_sectors <= 4 if ") + joined),
                    HasSubstr("another condition"));
    EXPECT_EQ(parse_budget("load_sectors <= 4 if name=k=0,k=1").conditions[0].words.size(), 2u);
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

// --name calls a formula by what results call its `formula`.
TEST(Budget, finds_a_formula_by_either_word_for_its_name) {
    Point point = point_with({{"formula", "far"}, {"k", 2}}, 9);
    point.name = "formula=far k=2";
    for (const char* condition : {"name=far", "formula=far", "name=formula=far*"}) {
        const GateReport report =
            report_of(std::string("load_sectors <= 4 if ") + condition, {point});
        EXPECT_EQ(report.count(Kind::broken), 1u) << condition;
    }
    EXPECT_EQ(report_of("load_sectors <= 4 if name=near", {point}).count(Kind::broken), 0u);
}

// What a unit stands for: powers of 1024 and of 1000, and parts of a second (SI, IEC 80000-13).
TEST(Budget, has_the_limit_that_its_unit_says) {
    const auto limit = [](const std::string& counter, const std::string& value) {
        return parse_budget(counter + " <= " + value).limit;
    };
    for (const auto& [unit, factor] : {std::pair{"B", 1.0},
                                       {"KiB", 1024.0},
                                       {"MiB", 1048576.0},
                                       {"GiB", 1073741824.0},
                                       {"TiB", 1099511627776.0},
                                       {"kB", 1e3},
                                       {"MB", 1e6},
                                       {"GB", 1e9},
                                       {"TB", 1e12}})
        EXPECT_DOUBLE_EQ(limit("dram_read_bytes", std::string("3") + unit), 3 * factor) << unit;
    for (const auto& [unit, factor] :
         {std::pair{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}})
        EXPECT_DOUBLE_EQ(limit("duration_seconds", std::string("3") + unit), 3 * factor) << unit;
    for (const auto& [unit, factor] :
         {std::pair{"B/s", 1.0}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}})
        EXPECT_DOUBLE_EQ(limit("bandwidth_bytes_per_second", std::string("3") + unit), 3 * factor)
            << unit;
    EXPECT_DOUBLE_EQ(limit("load_efficiency", "80%"), 0.8);
}

// A ratio of 1 is whole; more than that was meant in per cent.
TEST(Budget, of_a_ratio_goes_up_to_1) {
    EXPECT_EQ(budget_refusal("load_efficiency >= 1"), "(accepted)");
    EXPECT_THAT(budget_refusal("load_efficiency >= 1.01"), HasSubstr("%"));
}

TEST(Budget, is_kept_or_broken_below_at_and_above_its_limit) {
    for (const auto& [sign, kept] : {std::pair{"<", "100"},
                                     {"<=", "110"},
                                     {">", "001"},
                                     {">=", "011"},
                                     {"==", "010"},
                                     {"!=", "101"}}) {
        std::string found;
        for (const std::uint64_t sectors : {3u, 4u, 5u}) {
            const auto report =
                report_of(fmt::format("load_sectors {} 4", sign), {point_with({}, sectors)});
            found += report.cases.at(0).held() == 1 ? '1' : '0';
        }
        EXPECT_EQ(found, kept) << sign;
    }
}

// A star stands for any text, for none too, and for more than the first guess.
TEST(Budget, has_conditions_whose_stars_match_any_text) {
    for (const auto& [pattern, text, fits] : {std::tuple{"ca*", "ca", true},
                                              {"*ab", "aab", true},
                                              {"*", "x", true},
                                              {"a*b*c", "aXbXbc", true},
                                              {"*ab", "abx", false},
                                              {"ca*", "c", false}}) {
        const auto report = report_of(fmt::format("load_sectors <= 4 if dlcm={}", pattern),
                                      {point_with({{"dlcm", text}}, 4)});
        EXPECT_EQ(report.cases.at(0).held(), fits ? 1u : 0u) << pattern << ' ' << text;
    }
}

TEST(Budget, falls_back_on_the_prediction_where_the_measurement_has_no_such_counter) {
    Point point = point_with({}, 4);
    point.measured.emplace()[Counter::load_sectors] = Unavailable{"no permission"};
    EXPECT_EQ(report_of("load_sectors <= 4", {point}).code(), ExitCode::done);
    EXPECT_EQ(report_of("measured load_sectors <= 4", {point}).code(), ExitCode::partial);
}

// The lines of a launch that failed counted only until then.
TEST(Budget, is_not_kept_by_lines_of_a_failed_launch) {
    const auto code = [](const std::string& failure) {
        Point whole = point_with({{"line", "all"}, {"kernel", "k"}}, 4);
        whole.failure = failure;
        const GateReport report = report_of(
            "load_sectors <= 4", {whole, point_with({{"line", "a.cu:1"}, {"kernel", "k"}}, 4)});
        return std::pair(report.cases.front().held(), report.code());
    };
    EXPECT_EQ(code(""), std::pair(std::uint64_t{1}, ExitCode::done));
    EXPECT_EQ(code("a fault"), std::pair(std::uint64_t{0}, ExitCode::partial));
    // Another launch of the same kernel stands on its own.
    Point failed = point_with({{"kernel", "k"}, {"grid", "2"}}, 4);
    failed.failure = "a fault";
    const GateReport report =
        report_of("load_sectors <= 4", {failed, point_with({{"kernel", "k"}, {"grid", "1"}}, 4)});
    EXPECT_EQ(report.cases.front().held(), 1u);
    EXPECT_EQ(report.code(), ExitCode::partial);
}

TEST(Budget, counts_lines_as_lines_and_kernels_as_kernels) {
    const Point whole = point_with({{"line", "all"}, {"kernel", "k"}}, 9);
    const Point line = point_with({{"line", "a.cu:1"}, {"kernel", "k"}}, 4);
    const auto noun = [](const std::vector<Point>& points) {
        return std::string(report_of("load_sectors <= 4", points).cases.front().noun());
    };
    EXPECT_EQ(noun({whole}), "kernel");
    EXPECT_EQ(noun({line}), "line");
    EXPECT_EQ(noun({whole, line}), "point");  // the kernel alone breaks it
    EXPECT_EQ(noun({point_with({{"offset", std::int64_t{1}}}, 4)}), "point");
}

TEST(Budget, is_not_kept_by_what_is_missing) {
    Point failed = point_with({}, 4);
    failed.predicted.clear();
    failed.failure = "out of memory";
    EXPECT_EQ(report_of("load_sectors <= 4", {point_with({}, 4), failed}).code(),
              ExitCode::partial);
    BudgetJudge judge({parse_budget("load_sectors <= 4")});
    judge.begin({});
    judge.point(point_with({}, 4));
    judge.finish({.status = Status::interrupted});
    EXPECT_EQ(std::move(judge).report().code(), ExitCode::partial);
}

// 1 is a tenth of the 10 that were asked for, 30 three times as much.
TEST(Budget, is_broken_most_where_the_factor_is_largest) {
    Point tenth = point_with({}, 1);
    tenth.name = "tenth";
    const auto report = report_of("load_sectors == 10", {point_with({}, 30), tenth});
    EXPECT_EQ(report.cases.at(0).findings().at(0).point, "tenth");
}

TEST(Budget, files_hold_1000_of_them_and_no_more) {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "load_sectors <= 4\n";
    folder.write("budgets", text);
    EXPECT_EQ(read_budget_file(folder / "budgets").size(), 1000u);
    folder.write("budgets", text + "load_sectors <= 4\n");
    EXPECT_THROW(read_budget_file(folder / "budgets"), UsageError);
}

}  // namespace
}  // namespace coalprof
