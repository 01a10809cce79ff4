// Results measured on a GPU (tests/data/h200/results), cut to 0, 1, 2 and 33 points, in every
// format and with every choice of columns: what no machine without a GPU writes by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/result/result_reader.h"
#include "core/write/collecting_sink.h"
#include "core/write/formats.h"
#include "test_data.h"

namespace coalprof {
namespace {

using testing::HasSubstr;

struct Recorded : ResultSink {
    void begin(const ResultHead& read) override { head = read; }
    void point(const Point& point) override { points.push_back(point); }
    void finish(const ResultTail& read) override { tail = read; }

    ResultHead head;
    std::vector<Point> points;
    ResultTail tail;
};

Recorded recorded(const std::string& pattern) {
    Recorded result;
    const std::string path = test_data_folder() + "/h200/results/" + pattern + ".json";
    const auto source = open_bytes(path);
    EXPECT_EQ(ResultReader(*source, path).next(result), ReadOutcome::whole);
    return result;
}

std::string written(const Format& format, const Recorded& result, std::size_t points,
                    const TableStyle& style = {}) {
    CollectingSink sink;
    const auto writer = format.make(sink, style);
    writer->begin(result.head);
    for (std::size_t i = 0; i < points; ++i) writer->point(result.points[i]);
    writer->finish(result.tail);
    return sink.text();
}

std::vector<Counter> counters_of(const Point& point) {
    std::vector<Counter> counters;
    const auto add = [&](Counter counter, const Reading&) { counters.push_back(counter); };
    point.predicted.each(add);
    point.measured->each(add);
    return counters;
}

// None chosen, one, or all.
std::vector<std::vector<Counter>> column_choices(const Point& point) {
    std::vector<std::vector<Counter>> choices{{}, counters_of(point)};
    for (const Counter counter : counters_of(point)) choices.push_back({counter});
    return choices;
}

// Charts scale their numbers.
bool has_plain_numbers(const Format& format) {
    return format.name != "svg" && format.name != "plot";
}

std::string without_separators(std::string text) {
    std::erase(text, ',');
    return text;
}

// `text` is of findings, which most sweeps lack.
class RecordedResult : public testing::TestWithParam<const char*> {};

TEST_P(RecordedResult, of_any_length_is_written_in_every_format_with_any_columns_and_style) {
    Recorded result = recorded(GetParam());
    for (const std::size_t points : {0u, 1u, 2u, 33u})
        for (const auto& columns : column_choices(result.points.front()))
            for (const Format& format : all_formats()) {
                result.head.columns = result.head.foremost = columns;
                const auto is_written = [&](const TableStyle& style) {
                    return format.name == "text" ||
                           written(format, result, std::min(points, result.points.size()), style) !=
                               "";
                };
                EXPECT_TRUE(is_written({})) << format.name;
                for (const std::size_t width : {0u, 20u, 120u})
                    for (const bool is_rich : {false, true})
                        EXPECT_TRUE(!columns.empty() || is_written({.width = width,
                                                                    .color = is_rich,
                                                                    .ascii = !is_rich,
                                                                    .explains_all = is_rich}))
                            << format.name;
            }
}

TEST_P(RecordedResult, of_one_point_has_its_measured_number_beside_the_predicted_one) {
    Recorded result = recorded(GetParam());
    const Point& point = result.points.front();
    for (const Counter counter : counters_of(point)) {
        const Reading& measured = (*point.measured)[counter];
        if (!is_number(measured) || number_in(measured) == 0 || !info(counter).is_integer) continue;
        if (info(counter).unit == Unit::byte) continue;  // tables scale it
        result.head.columns = {counter};
        for (const Format& format : all_formats()) {
            if (!has_plain_numbers(format)) continue;
            EXPECT_THAT(without_separators(written(format, result, 1)),
                        HasSubstr(std::to_string(std::get<std::uint64_t>(measured))))
                << format.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Patterns, RecordedResult,
                         testing::Values("offset", "stride", "shared-stride", "formula"),
                         [](const auto& tested) {
                             std::string name = tested.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

// The only cell of a row that has one number fewer than the table has columns.
TEST(LonePoint, is_limited_by_something_that_only_the_model_names) {
    const std::string table = written(find_format("md"), recorded("offset"), 1);
    EXPECT_THAT(table, HasSubstr("| limited by | latency |  |\n"));
}

}  // namespace
}  // namespace coalprof
