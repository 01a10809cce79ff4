#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/write/collecting_sink.h"
#include "core/write/formats.h"
#include "core/write/synthetic.h"

namespace coalprof {
namespace {

using nlohmann::json;

json document_of(const std::vector<Point>& points, const ResultHead& head = synthetic::head(),
                 const ResultTail& tail = {}) {
    CollectingSink sink;
    const auto writer = find_format("json").make_writer(sink, {});
    writer->begin(head);
    for (const Point& point : points) writer->point(point);
    writer->finish(tail);
    return json::parse(sink.text());
}

std::vector<json> parsed_lines(const std::string& text) {
    std::vector<json> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        EXPECT_NE(end, std::string::npos) << "a line without an end";
        lines.push_back(json::parse(text.substr(at, end - at)));
        at = end + 1;
    }
    return lines;
}

TEST(Json, holds_every_reading_of_a_point) {
    const Point point = synthetic::point(1);
    const json written = document_of({point})["points"][0];
    EXPECT_EQ(written["name"], "offset=1");
    EXPECT_EQ(written["parameters"], json({{"offset", 1}, {"dlcm", "ca"}}));
    std::size_t readings = 0;
    point.predicted.each([&](Counter counter, const Reading& reading) {
        ++readings;
        const json& value = written["predicted"][std::string(key_of(counter))];
        if (is_number(reading)) {
            EXPECT_EQ(value.get<double>(), number_in(reading)) << key_of(counter);
        } else {
            EXPECT_TRUE(value.is_null()) << key_of(counter);
        }
    });
    EXPECT_EQ(written["predicted"].size(), readings);
    EXPECT_EQ(written["timing"]["high_seconds"], 4.5e-6);
}

// Parsed, a member that stands twice is one.
TEST(Json, a_reason_of_prediction_and_measurement_stands_once) {
    Point point = synthetic::point(1);
    for (Readings* readings : {&point.predicted, &*point.measured})
        for (const Counter counter : {Counter::l2_read_sectors, Counter::dram_read_bytes})
            (*readings)[counter] = Unavailable{"for a reason"};
    const std::string text =
        synthetic::written(find_format("json"), synthetic::head(), {std::move(point)});
    const std::string member = R"("dram_read_bytes":"for a reason")";
    EXPECT_NE(text.find(member), text.npos);
    EXPECT_EQ(text.find(member), text.rfind(member));
}

TEST(Json, a_number_that_is_not_finite_is_null_with_a_reason) {
    Point point;
    point.predicted[Counter::load_efficiency] = std::numeric_limits<double>::quiet_NaN();
    point.predicted[Counter::duration_seconds] = std::numeric_limits<double>::infinity();
    point.parameters = {{"x", std::numeric_limits<double>::infinity()}};
    const json written = document_of({point})["points"][0];
    EXPECT_TRUE(written["predicted"]["load_efficiency"].is_null());
    EXPECT_TRUE(written["parameters"]["x"].is_null());
    EXPECT_EQ(written["unavailable"].size(), 2u);
}

TEST(Json, large_integers_are_exact) {
    Point point;
    constexpr std::uint64_t odd = (std::uint64_t{1} << 53) + 1;  // no double
    point.predicted[Counter::load_sectors] = odd;
    EXPECT_EQ(document_of({point})["points"][0]["predicted"]["load_sectors"].get<std::uint64_t>(),
              odd);
}

TEST(Json, any_bytes_in_texts_become_valid_json) {
    Point point;
    point.name = "tab\t quote\" back\\slash bell\a \xFF caf\xC3\xA9";
    point.parameters = {{"key \"\xFE", std::string("value\n\x80")}};
    point.failure = "\xC3";
    ResultHead head = synthetic::head();
    head.argv = {"\xFF"};
    const json document = document_of({point}, head);
    const json& written = document["points"][0];
    EXPECT_EQ(written["name"], "tab\t quote\" back\\slash bell\a \uFFFD caf\u00E9");
    EXPECT_EQ(written["parameters"]["key \"\uFFFD"], "value\n\uFFFD");
    EXPECT_EQ(written["failure"], "\uFFFD");
    EXPECT_EQ(document["meta"]["argv"][0], "\uFFFD");
}

TEST(Json, a_result_without_points_is_a_document_whose_warnings_may_name_none) {
    const json document = document_of({}, {}, {Status::interrupted, {}});
    EXPECT_EQ(document["points"], json::array());
    EXPECT_EQ(document["status"], "interrupted");
    EXPECT_EQ(document["warnings"], json::array());
    EXPECT_TRUE(document["meta"]["device"].is_null());
    const json warned =
        document_of({}, {}, {Status::complete, {{"W-A", "p", "x"}, {"W-B", "", "y"}}});
    EXPECT_EQ(warned["warnings"][0]["point"], "p");
    EXPECT_TRUE(warned["warnings"][1]["point"].is_null());
}

TEST(Json, streams) {
    CollectingSink sink;
    const auto writer = find_format("json").make_writer(sink, {});
    writer->begin(synthetic::head());
    const Point point = synthetic::point(0);
    for (int i = 0; i < 1000; ++i) writer->point(point);
    EXPECT_GT(sink.writes.size(), 5u);  // 1,000 points of more than 1 KB in blocks of 64 KiB
}

// The formulas of a file can be thousands: they stand in the first line, not in each.
TEST(Jsonl, repeats_of_the_sweep_only_what_is_short) {
    ResultHead head = synthetic::head();
    head.sweep.more = {{"formula.a", std::string(1000, 'i')}};
    CollectingSink sink;
    const auto writer = find_format("jsonl").make_writer(sink, {});
    writer->begin(head);
    writer->point(synthetic::point(0));
    writer->point(synthetic::point(1));
    writer->finish({});
    const std::vector<json> lines = parsed_lines(sink.text());
    EXPECT_TRUE(lines[0]["sweep"].contains("formula.a"));
    EXPECT_FALSE(lines[1]["sweep"].contains("formula.a"));
}

TEST(Jsonl, of_no_points_is_one_line_with_the_head_and_the_end) {
    CollectingSink sink;
    const auto writer = find_format("jsonl").make_writer(sink, {});
    writer->begin(synthetic::head());
    writer->finish({.status = Status::interrupted});
    const std::vector<json> lines = parsed_lines(sink.text());
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0]["meta"]["time"], "2026-11-21T05:20:00Z");
    EXPECT_EQ(lines[0]["status"], "interrupted");
}

TEST(Jsonl, points_equal_those_of_json) {
    CollectingSink sink;
    const auto writer = find_format("jsonl").make_writer(sink, {});
    writer->begin(synthetic::head());
    writer->point(synthetic::point(1));
    writer->finish({});
    json line = parsed_lines(sink.text()).at(0);
    for (const char* own : {"schema", "machine", "device", "sweep", "meta"}) line.erase(own);
    EXPECT_EQ(line, document_of({synthetic::point(1)})["points"][0]);
}

TEST(Jsonl, a_reader_gets_each_line_as_its_point_is_finished_and_a_file_large_blocks) {
    for (const bool is_live : {true, false}) {
        CollectingSink sink(is_live);
        const auto writer = find_format("jsonl").make_writer(sink, {});
        writer->begin(synthetic::head());
        for (std::size_t i = 1; i <= 3; ++i) {
            writer->point(synthetic::point(0));
            ASSERT_EQ(sink.writes.size(), is_live ? i : 0);
            EXPECT_TRUE(!is_live || sink.writes.back().back() == '\n');
        }
        writer->finish({});
        EXPECT_TRUE(is_live || sink.writes.size() == 1);
    }
}

}  // namespace
}  // namespace coalprof
