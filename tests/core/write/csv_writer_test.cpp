#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/text/error.h"
#include "core/write/collecting_sink.h"
#include "core/write/formats.h"
#include "core/write/synthetic.h"

namespace coalprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string csv_of(const std::vector<Point>& points, const ResultHead& head = {}) {
    CollectingSink sink;
    const auto writer = find_format("csv").make_writer(sink, {});
    writer->begin(head);
    for (const Point& point : points) writer->point(point);
    writer->finish({});
    return sink.text();
}

Point named(const std::string& name) {
    Point point;
    point.name = name;
    point.predicted[Counter::load_sectors] = std::uint64_t{4};
    return point;
}

// What was given but not swept has a column too, whatever was given: files can be put together.
TEST(Csv, rows_say_every_setting_of_their_sweep) {
    ResultHead head;
    head.sweep.pattern = "row";
    head.sweep.block = 256;
    head.sweep.block_x = 32;
    head.sweep.block_y = 8;
    head.sweep.settings = {{"dlcm", std::string("cg")}};
    head.sweep.more = {{"pitch", std::string("auto")}, {"formula.x", std::string("i")}};
    Point swept = named("a");
    swept.parameters = {{"alloc", std::string("host")}};
    EXPECT_THAT(lines_of(csv_of({swept}, head)),
                ElementsAre("name,pattern,formula_name,formula,op,type,size_bytes,machine,grid,"
                            "block,per_thread,dlcm,dscm,carveout,l2_fetch,alloc,path,pitch,"
                            "load_sectors,failure",
                            "a,row,,,,,,,,32x8,,cg,,,,host,,auto,4,"));
}

TEST(Csv, quotes_what_would_break_a_row) {
    EXPECT_THAT(csv_of({named("a,b"), named("say \"hi\""), named("two\nlines")}),
                HasSubstr("\"a,b\",4,\n\"say \"\"hi\"\"\",4,\n\"two\nlines\",4,\n"));
}

TEST(Csv, no_text_becomes_a_formula) {
    EXPECT_THAT(lines_of(csv_of({named("=1+1"), named("+a"), named("-a"), named("@a")})),
                ElementsAre("name,load_sectors,failure", "\"'=1+1\",4,", "\"'+a\",4,", "\"'-a\",4,",
                            "\"'@a\",4,"));
}

TEST(Csv, what_is_not_there_is_an_empty_field) {
    Point unavailable = named("a");
    unavailable.predicted[Counter::load_sectors] = Unavailable{"a reason"};
    Point not_finite = named("b");
    not_finite.predicted[Counter::load_sectors] = 0.0 / 0.0;
    EXPECT_THAT(lines_of(csv_of({named("c"), unavailable, not_finite})),
                ElementsAre("name,load_sectors,failure", "c,4,", "a,,", "b,,"));
}

TEST(Csv, a_first_point_that_failed_does_not_cost_the_columns_of_the_others) {
    const std::vector<std::string> lines =
        lines_of(csv_of({synthetic::failed_point(0), synthetic::point(1)}));
    EXPECT_THAT(lines[0], HasSubstr(",measured_duration_seconds,"));
    EXPECT_THAT(lines[0], HasSubstr(",timing_repeats,"));
    EXPECT_THAT(lines[1], HasSubstr(",cannot allocate 4 KiB: none is free"));
}

TEST(Csv, the_caller_may_fix_the_counters) {
    ResultHead head;
    head.columns = {Counter::store_sectors, Counter::load_sectors};
    EXPECT_THAT(lines_of(csv_of({named("a")}, head)),
                ElementsAre("name,store_sectors,load_sectors,failure", "a,,4,"));
}

TEST(Csv, a_counter_that_comes_too_late_for_a_column_is_an_error_not_a_loss) {
    CollectingSink sink;
    const auto writer = find_format("csv").make_writer(sink, {});
    writer->begin({});
    for (int i = 0; i < 1000; ++i) writer->point(named("a"));
    Point late = named("late");
    late.predicted[Counter::store_sectors] = std::uint64_t{1};
    try {
        writer->point(late);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_THAT(error.what(), HasSubstr("late"));
        EXPECT_THAT(error.what(), HasSubstr("store_sectors"));
    }
}

TEST(Csv, an_empty_result_is_a_header) { EXPECT_EQ(csv_of({}), "name,failure\n"); }

TEST(Csv, streams) {
    CollectingSink sink;
    const auto writer = find_format("csv").make_writer(sink, {});
    writer->begin({});
    for (int i = 0; i < 100'000; ++i) writer->point(named("a"));
    EXPECT_GT(sink.writes.size(), 5u);  // 100,000 rows of 5 bytes in blocks of 64 KiB
}

}  // namespace
}  // namespace coalprof
