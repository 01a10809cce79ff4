// One result in every format, held against files that reviewers read: a change of a format is a
// change below tests/data/golden/. COALPROF_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/write/source_lines.h"
#include "core/write/synthetic.h"
#include "test_data.h"

namespace coalprof {
namespace {

void expect_golden(const std::string& file, const std::string& text) {
    const std::string path = test_data_folder() + "/golden/" + file;
    if (std::getenv("COALPROF_UPDATE_GOLDEN")) std::ofstream(path) << text;
    std::ifstream stream(path);
    ASSERT_TRUE(stream) << path;
    std::ostringstream golden;
    golden << stream.rdbuf();
    EXPECT_EQ(text, golden.str()) << path;
}

// What every page has in common stands in core/write/page; here a word stands for each part of it.
std::string with_words_for_parts(std::string page) {
    for (const auto& [part, word] :
         {std::pair{page_style(), "[page_style]"}, {page_script(), "[page_script]"}}) {
        const std::size_t at = page.find(part);
        EXPECT_NE(at, page.npos) << word;
        if (at != page.npos) page.replace(at, part.size(), word);
    }
    return page;
}

// Those whose whole text is worth reading: of html the browser's tests do
// (tests/cli/formats_test.py).
std::vector<Format> golden_formats() {
    std::vector<Format> formats;
    for (const Format& format : all_formats())
        if (format.name != "html") formats.push_back(format);
    return formats;
}

std::vector<Point> measured_sweep() {
    return {synthetic::point(0), synthetic::point(1), synthetic::failed_point(8),
            synthetic::point(32)};
}

std::vector<Point> predicted_sweep() {
    std::vector<Point> points{synthetic::point(0), synthetic::point(1), synthetic::point(32)};
    for (Point& point : points) {
        point.measured.reset();
        point.timing.reset();
        point.launch.reset();
    }
    return points;
}

ResultHead predicted_head() {
    ResultHead head = synthetic::head();
    head.device.reset();
    head.backend = "model";
    head.passes = 0;
    return head;
}

// Warps of different kinds, one instruction each, as `coalprof warps` makes them.
std::vector<Point> mixed_warps() {
    std::vector<Point> points;
    std::uint64_t sectors = 1;
    for (const AccessKind kind : access_kinds) {
        Point& point = points.emplace_back();
        point.name = std::string("warp_of_") + std::string(name_of(kind));
        point.predicted[access_counter(kind, AccessField::requests)] = std::uint64_t{1};
        point.predicted[access_counter(kind, AccessField::sectors)] = sectors;
        point.predicted[access_counter(kind, AccessField::unique_bytes)] = 8 * sectors;
        derive_ratios(point.predicted);
        sectors *= 2;
    }
    Point& shared = points.emplace_back();
    shared.name = "warp_of_shared";
    shared.predicted[Counter::shared_load_requests] = std::uint64_t{1};
    shared.predicted[Counter::shared_load_wavefronts] = std::uint64_t{32};
    shared.predicted[Counter::shared_load_conflicts] = std::uint64_t{31};
    return points;
}

ResultHead warps_head() {
    ResultHead head = predicted_head();
    head.sweep = {.pattern = "warps"};
    return head;
}

TEST(Golden, a_measured_sweep_in_every_format) {
    for (const Format& format : golden_formats())
        expect_golden("measured" + std::string(format.suffixes[0]),
                      synthetic::written(format, synthetic::head(), measured_sweep()));
}

TEST(Golden, a_prediction) {
    expect_golden("predicted.json",
                  synthetic::written(find_format("json"), predicted_head(), predicted_sweep()));
}

// Intervals, and the marks of estimates.
TEST(Golden, estimates) {
    for (const char* name : {"table", "json", "csv", "openmetrics", "html"}) {
        const Format& format = find_format(name);
        const std::string text =
            synthetic::written(format, predicted_head(),
                               {synthetic::estimated_point(0), synthetic::estimated_point(1),
                                synthetic::estimated_point(32)});
        expect_golden("estimated" + std::string(format.suffixes[0]),
                      format.name == "html" ? with_words_for_parts(text) : text);
    }
}

// Points that have names and no parameters, and one kind of instruction each.
TEST(Golden, mixed_warps) {
    for (const char* name : {"table", "csv", "json"}) {
        const Format& format = find_format(name);
        expect_golden("warps" + std::string(format.suffixes[0]),
                      synthetic::written(format, warps_head(), mixed_warps()));
    }
}

// What --best found, at each size of the problem.
TEST(Golden, verdicts) {
    ResultTail tail;
    for (const std::int64_t size : {1, 2})
        tail.verdicts.push_back(
            {.scope = {{"counter", std::string("duration_seconds")}, {"n", size}},
             .combinations = 2,
             .values = 3,
             .best = {{{"dlcm", std::string("ca")}}},
             .gain = 1.25,
             .text = "dlcm ca, 1.25 times as fast as dlcm cg"});
    for (const char* name : {"json", "table"}) {
        const Format& format = find_format(name);
        expect_golden("verdicts" + std::string(format.suffixes[0]),
                      synthetic::written(format, synthetic::head(),
                                         {synthetic::point(0), synthetic::point(1)}, {}, tail));
    }
}

TEST(Golden, a_lone_point_as_a_list) {
    expect_golden("lone.txt", synthetic::written(find_format("table"), synthetic::head(),
                                                 {synthetic::point(11)}));
}

TEST(Golden, a_table_in_color_and_one_in_ascii) {
    const Format& table = find_format("table");
    expect_golden("color.txt", synthetic::written(table, predicted_head(), predicted_sweep(),
                                                  {.width = 80, .color = true}));
    expect_golden("ascii.txt", synthetic::written(table, synthetic::head(), measured_sweep(),
                                                  {.width = 60, .ascii = true}));
}

}  // namespace
}  // namespace coalprof
