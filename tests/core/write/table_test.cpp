#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <sstream>

#include "core/text/utf8.h"
#include "core/write/collecting_sink.h"
#include "core/write/formats.h"
#include "core/write/safe_text.h"
#include "core/write/synthetic.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string table_of(const std::vector<Point>& points, const TableStyle& style = {},
                     const ResultHead& head = synthetic::head(), const ResultTail& tail = {}) {
    CollectingSink sink;
    const auto writer = find_format("table").make_writer(sink, style);
    writer->begin(head);
    for (const Point& point : points) writer->point(point);
    writer->finish(tail);
    return sink.text();
}

std::vector<std::string> table_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

std::vector<Point> sweep() {
    return {synthetic::point(0), synthetic::point(1), synthetic::point(32)};
}

Point predicted_load(const std::string& name, std::uint64_t sectors) {
    Point point;
    point.name = name;
    point.predicted[Counter::load_requests] = std::uint64_t{1};
    point.predicted[Counter::load_sectors] = sectors;
    point.predicted[Counter::load_unique_bytes] = std::uint64_t{32};
    derive_ratios(point.predicted);
    return point;
}

// What holds anyway is not told, whatever it is called.
TEST(Table, is_headed_by_the_settings_that_somebody_chose) {
    ResultHead head = synthetic::head();
    const auto settings = [](const char* carveout, const char* pitch, std::uint64_t seed) {
        return NamedValues{
            {"carveout", std::string(carveout)}, {"pitch", std::string(pitch)}, {"seed", seed}};
    };
    head.sweep.settings = settings("driver", "none", 1);
    const std::string usual = table_of(sweep(), {}, head);
    head.sweep.settings = settings("prefer-l1", "auto", 7);
    const std::string chosen = table_of(sweep(), {}, head);
    for (const char* text : {"carveout", "pitch", "seed"}) EXPECT_THAT(usual, Not(HasSubstr(text)));
    for (const char* text : {"carveout prefer-l1", "pitch auto", "seed 7"})
        EXPECT_THAT(chosen, HasSubstr(text));
    head.sweep.file = "warps.txt";
    EXPECT_THAT(table_of(sweep(), {}, head), HasSubstr("warps.txt"));
}

TEST(Table, no_line_is_wider_than_asked) {
    for (const std::size_t width : {40u, 60u, 80u, 100u, 200u})
        for (const bool ascii : {false, true})
            for (const std::string& line : table_lines(table_of(sweep(), {width, false, ascii})))
                EXPECT_LE(terminal_columns(line), width) << line;
}

TEST(Table, ascii_holds_no_other_character) {
    Point point = synthetic::point(1);
    point.name = "caf\xC3\xA9";
    point.parameters.clear();
    for (const char c : table_of({point, point}, {80, false, true}))
        EXPECT_LT(static_cast<unsigned char>(c), 128);
}

TEST(Table, what_agrees_is_shown_once) {
    const std::string table = table_of(sweep());
    EXPECT_EQ(count_of(table, "sectors/"), 1u);  // one column for loads, stores, both sources
    EXPECT_THAT(table, HasSubstr("=  prediction and measurement agree"));
    EXPECT_THAT(table, Not(HasSubstr("predicted  measured\n")));
}

TEST(Table, what_differs_is_shown_twice) {
    std::vector<Point> points = sweep();
    (*points[1].measured)[Counter::load_sectors] = std::uint64_t{163};
    (*points[1].measured)[Counter::store_sectors] = std::uint64_t{163};
    derive_ratios(*points[1].measured);
    const std::string table = table_of(points, {.width = 0});
    EXPECT_THAT(table, HasSubstr("predicted  measured\n"));
    EXPECT_THAT(table, HasSubstr("25      27.3\n"));  // 160 and 163 of 128 sectors
}

TEST(Table, loads_and_stores_that_differ_are_shown_apart) {
    std::vector<Point> points = sweep();
    for (Point& point : points) {
        point.predicted[Counter::store_sectors] = std::uint64_t{999};
        (*point.measured)[Counter::store_sectors] = std::uint64_t{999};
    }
    const std::string table = table_of(points, {.width = 0});
    EXPECT_THAT(table, HasSubstr("loads"));
    EXPECT_THAT(table, HasSubstr("stores"));
    EXPECT_THAT(table, Not(HasSubstr("each")));
}

TEST(Table, what_is_the_same_in_every_row_is_said_once_above) {
    const std::string table = table_of(sweep());
    EXPECT_THAT(table, HasSubstr("Same for all rows: time 4.10 µs, dlcm ca, L2 read sectors 128"));
    EXPECT_EQ(count_of(table, "requests"), 0u) << "it is no answer";
    const std::string all = table_of(sweep(), {.explains_all = true});
    EXPECT_THAT(all, HasSubstr("dlcm ca; requests 32, ideal"));
    EXPECT_EQ(count_of(all, "requests"), 1u);
}

TEST(Table, a_prediction_that_never_changes_stands_above_the_measurements) {
    std::vector<Point> points = sweep();
    double measured = 1e9;
    for (Point& point : points) {
        point.predicted[Counter::bandwidth_bytes_per_second] = 3e9;
        (*point.measured)[Counter::bandwidth_bytes_per_second] = measured += 1e8;
    }
    const std::string table = table_of(points, {.width = 0});
    EXPECT_EQ(count_of(table, "GB/s"), 4u);  // above, over one column, and both ceilings
    EXPECT_THAT(table, HasSubstr("predicted bandwidth 3.00 GB/s"));
}

TEST(Table, shares_stand_in_a_column_and_their_ceilings_below) {
    std::vector<Point> points = sweep();
    (*points[1].measured)[Counter::bandwidth_share] = 0.25;
    const std::string table = table_of(points);
    EXPECT_THAT(table, HasSubstr("ceiling"));
    EXPECT_THAT(
        table,
        HasSubstr("Ceiling of this GPU in this run: 4.50 GB/s reading, 4.00 GB/s copying.\n"));
    // A number that is not there has no ceiling to explain.
    for (Point& point : points) (*point.measured)[Counter::bandwidth_share] = {};
    EXPECT_THAT(table_of(points), Not(HasSubstr("eiling")));
}

Point with_excess(std::uint64_t sectors, std::uint64_t ideal) {
    Point point = predicted_load(std::to_string(sectors), sectors);
    point.predicted[Counter::load_ideal_sectors] = ideal;
    derive_ratios(point.predicted);
    return point;
}

// Colour judges what is beyond the fewest sectors: a broadcast uses an eighth of its one sector,
// which no access can better.
TEST(Table, colors_are_for_what_is_beyond_the_ideal) {
    const auto colors_of = [](const Point& point) {
        const std::string table = table_of({point, point}, {.width = 0, .color = true}, {});
        return std::array{count_of(table, "\033[32m"), count_of(table, "\033[33m"),
                          count_of(table, "\033[31m")};
    };
    Point broadcast = with_excess(1, 1);
    broadcast.predicted[Counter::load_unique_bytes] = std::uint64_t{4};
    derive_ratios(broadcast.predicted);
    EXPECT_THAT(colors_of(broadcast), testing::ElementsAre(2, 0, 0));
    EXPECT_THAT(colors_of(with_excess(5, 4)), testing::ElementsAre(0, 2, 0));
    EXPECT_THAT(colors_of(with_excess(12, 4)), testing::ElementsAre(0, 0, 2));
}

// Three loads of one structure of three floats: 12 sectors each, of which L2 is asked for 4.
TEST(Table, what_l1_catches_is_not_red) {
    Point caught = with_excess(36, 12);
    caught.predicted[Counter::l2_read_sectors] = std::uint64_t{12};
    const std::string table = table_of({caught, caught}, {.width = 0, .color = true}, {});
    EXPECT_EQ(count_of(table, "\033[31m"), 0u);
    EXPECT_EQ(count_of(table, "\033[33m"), 2u);
}

std::vector<Point> offsets(int count) {
    std::vector<Point> points;
    for (int offset = 0; offset < count; ++offset) {
        points.push_back(synthetic::point(offset));
        points.back().measured.reset();
    }
    return points;
}

TEST(Table, rows_that_are_equal_are_folded_unless_in_documents) {
    const std::string table = table_of(offsets(17));
    EXPECT_THAT(table, HasSubstr("\n  1..7  "));
    EXPECT_THAT(table, HasSubstr(" 9..15      as 1\n"));
    EXPECT_THAT(table, Not(HasSubstr("\n     3 ")));
    EXPECT_THAT(table_of(offsets(17), {.folds_rows = false}), HasSubstr("\n     3 "));
    // Nobody can unfold them in a document: 33 points, a heading and its rule.
    for (const char* name : {"md", "latex"}) {
        const std::string text =
            synthetic::written(find_format(name), synthetic::head(), offsets(33));
        EXPECT_EQ(count_of(text, name == std::string("md") ? "\n| " : " \\\\\n"), 33u + 2) << text;
        EXPECT_THAT(text, Not(HasSubstr("..")));
    }
}

TEST(Table, without_notes_keeps_what_is_wrong) {
    ResultTail tail;
    tail.warnings = {{"W-BOUNDS", "", "bounds are unchecked"}, {"W-MISMATCH", "", "counts differ"}};
    const auto written = [&](bool is_quiet) {
        return table_of(sweep(), {.is_quiet = is_quiet}, synthetic::head(), tail);
    };
    for (const char* note : {"note W-BOUNDS", "prediction and measurement", "more counters"}) {
        EXPECT_THAT(written(false), HasSubstr(note));
        EXPECT_THAT(written(true), Not(HasSubstr(note)));
    }
    EXPECT_THAT(written(true), HasSubstr("warning W-MISMATCH"));
}

// Offsets below 17 that take so long, those that are no multiple of 8 from 9 on so many times as
// long; who knows how long exactly.
std::vector<Point> doubtful_offsets(double factor) {
    std::vector<Point> points = offsets(17);
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].predicted[Counter::duration_seconds] = 1e-3 * (i > 8 && i % 8 != 0 ? factor : 1);
        points[i].estimates =
            Estimates{.intervals = {{Counter::duration_seconds, 1e-4, 1e-2}}, .limits = {}};
    }
    return points;
}

TEST(Table, times_that_differ_visibly_stand_in_their_rows) {
    const std::string table = table_of(doubtful_offsets(1.03));
    EXPECT_THAT(table, HasSubstr(" time\n"));
    EXPECT_THAT(table, HasSubstr("~1.03\n"));
    EXPECT_THAT(table, Not(HasSubstr("as 1\n")));
    const std::string near = table_of(doubtful_offsets(1.01));
    EXPECT_THAT(near, HasSubstr("Nearly the same for all rows: "));
    EXPECT_THAT(near, HasSubstr("time ~1.00 to ~1.01 ms"));
    EXPECT_THAT(table_of(doubtful_offsets(1)), Not(HasSubstr("Nearly")));
    // In a table that shows the time anyway, rows are as others only where it is the same.
    ResultHead head = synthetic::head();
    head.foremost = {Counter::duration_seconds};
    EXPECT_THAT(table_of(doubtful_offsets(1.01), {}, head), Not(HasSubstr("as 1\n")));
    EXPECT_THAT(table_of(doubtful_offsets(1.001), {}, head), HasSubstr("as 1\n"));
}

// The estimates of time say nothing where the start of the launch is what takes it.
TEST(Table, shows_no_times_that_mean_nothing) {
    std::vector<Point> points{predicted_load("a", 4), predicted_load("b", 8)};
    for (double seconds = 5e-6; Point & point : points) {
        point.predicted[Counter::duration_seconds] = seconds;
        point.estimates = {.intervals = {{Counter::duration_seconds, seconds, seconds}},
                           .limits = {Limit::start}};
        seconds *= 2;
    }
    EXPECT_THAT(table_of(points, {}, {}), Not(HasSubstr("time\n")));
    for (Point& point : points) point.estimates->limits = {Limit::dram};
    EXPECT_THAT(table_of(points, {}, {}), HasSubstr("time\n"));
}

std::vector<Point> sweep_of_rates() {
    std::vector<Point> points = sweep();
    double rate = 1e9;
    for (Point& point : points) {
        (*point.measured)[Counter::bandwidth_share] = {};
        (*point.measured)[Counter::bandwidth_bytes_per_second] = rate += 1e8;
    }
    return points;
}

TEST(Table, what_settings_are_compared_by_is_never_left_out) {
    const std::vector<Point> points = sweep_of_rates();
    ResultHead head = synthetic::head();
    EXPECT_THAT(table_of(points, {.width = 36}, head), Not(HasSubstr("GB/s\n")));
    head.compares_settings = true;
    EXPECT_THAT(table_of(points, {.width = 36}, head), HasSubstr("GB/s\n"));
}

// Offsets 1, 2, 4 on two machines: the sectors are the offset, ten times as many on the second.
std::vector<Point> offsets_on_two_machines() {
    std::vector<Point> points;
    for (const std::uint64_t factor : {1u, 10u})
        for (const std::uint64_t offset : {1u, 2u, 4u}) {
            Point point;
            point.predicted[Counter::load_sectors] = offset * factor;
            point.parameters = {{"offset", offset},
                                {"machine", std::string(factor == 1 ? "new" : "old")}};
            points.push_back(std::move(point));
        }
    return points;
}

ResultHead head_for_sectors() {
    ResultHead head = synthetic::head();
    head.columns = {Counter::load_sectors};
    return head;
}

TEST(Table, one_number_of_two_parameters_is_a_table_of_one_by_the_other) {
    std::vector<Point> points = offsets_on_two_machines();
    const std::string text = table_of(points, {}, head_for_sectors());
    EXPECT_THAT(text, HasSubstr("offset  new  old\n"
                                "     1    1   10\n"
                                "     2    2   20\n"
                                "     4    4   40\n"));
    EXPECT_THAT(text, HasSubstr("loads: sectors\n"));
    CollectingSink sink;
    const auto writer = find_format("latex").make_writer(sink, {});
    writer->begin(head_for_sectors());
    for (const Point& point : points) writer->point(point);
    writer->finish({});
    EXPECT_THAT(sink.text(), HasSubstr(" & \\multicolumn{2}{c}{machine} \\\\\n"
                                       "offset & new & old \\\\\n"));
    // A parameter that follows from another is no third one.
    for (Point& point : points)
        point.parameters.emplace_back("bytes", text_of(point.parameters[0].second) + "0");
    EXPECT_THAT(table_of(points, {}, head_for_sectors()), HasSubstr("offset  new  old\n"));
}

TEST(Table, stays_long_where_a_combination_is_missing_or_the_lines_get_too_long) {
    std::vector<Point> points = offsets_on_two_machines();
    EXPECT_THAT(table_of(points, {.width = 14}, head_for_sectors()), Not(HasSubstr("old\n")));
    points.pop_back();
    EXPECT_THAT(table_of(points, {}, head_for_sectors()), Not(HasSubstr("new  old\n")));
}

// Interval of a bandwidth.
Estimates within(double low, double high) {
    return {.intervals = {{Counter::bandwidth_bytes_per_second, low, high}},
            .limits = {Limit::dram}};
}

// Of variants of one width that take so many passes, 80 columns wide.
std::string table_of_variants(const std::vector<std::uint64_t>& all_passes,
                              const std::function<Point(int)>& point_of,
                              const std::function<void(Point&, std::uint64_t)>& set) {
    ResultHead head = synthetic::head();
    head.sweep.parameter = "width";
    std::vector<Point> points;
    for (const std::uint64_t passes : all_passes) {
        Point point = point_of(static_cast<int>(passes));
        point.measured.reset();
        point.parameters = {{"width", std::uint64_t{1024}}, {"variant", std::to_string(passes)}};
        set(point, passes);
        derive_ratios(point.predicted);
        points.push_back(point);
    }
    return table_of(points, {.width = 80}, head);
}

// Variants of one width: what compares them stays at 80 columns, and the width stands above.
TEST(Table, variants_are_compared_by_time_and_passes_a_request) {
    const std::string text =
        table_of_variants({1, 8, 32}, synthetic::estimated_point, [](Point& point, auto passes) {
            point.predicted[Counter::duration_seconds] = 1e-6 * static_cast<double>(passes);
            point.predicted[Counter::shared_load_requests] = std::uint64_t{2};
            point.predicted[Counter::shared_load_wavefronts] = 2 * passes;
        });
    const std::string above = text.substr(0, text.find("variant"));
    const std::string shown = text.substr(0, text.find("Left out"));
    EXPECT_THAT(above, HasSubstr("width 1024"));
    EXPECT_THAT(shown, HasSubstr("time"));
    EXPECT_THAT(shown, HasSubstr("passes/req"));
}

TEST(Table, an_estimate_is_marked_and_has_three_digits) {
    std::vector<Point> points{predicted_load("a", 4), predicted_load("b", 8)};
    points[0].predicted[Counter::bandwidth_bytes_per_second] = 4253.205e9;
    points[0].estimates = within(4e12, 5e12);
    points[1].predicted[Counter::bandwidth_bytes_per_second] = 1417.7e9;
    points[1].estimates = within(1e12, 2e12);
    const std::string table = table_of(points, {.width = 0});
    EXPECT_THAT(table, HasSubstr("~4,250\n"));
    EXPECT_THAT(table, HasSubstr("~1,420\n"));
    EXPECT_THAT(table, HasSubstr("~  estimated"));
    EXPECT_THAT(table, HasSubstr("limited by DRAM"));
    const std::string card = table_of({points[0]}, {.width = 80});
    EXPECT_THAT(card, HasSubstr("~4,250 GB/s"));
    EXPECT_THAT(card, HasSubstr("~  estimated"));
    // A measured one keeps its digits, and needs no such note.
    points[0].measured = points[0].predicted;
    points[0].predicted[Counter::bandwidth_bytes_per_second] = Unavailable{"not known"};
    points[0].estimates.reset();
    const std::string measured = table_of({points[0]}, {.width = 80});
    EXPECT_THAT(measured, HasSubstr("4,253 GB/s"));
    EXPECT_THAT(measured, Not(HasSubstr("estimate")));
}

// What goes to L2 was measured: nobody needs the estimate beside it, and they do not "agree".
TEST(Table, an_estimate_gives_way_to_a_measurement) {
    std::vector<Point> points;
    for (const std::int64_t offset : {0, 1, 32}) {
        points.push_back(synthetic::estimated_point(offset));
        points.back().measured = synthetic::point(offset).measured;
        (*points.back().measured)[Counter::l2_read_sectors] =
            static_cast<std::uint64_t>(7000 + offset);
    }
    points[0].predicted[Counter::l2_read_sectors] = std::uint64_t{7000};
    const std::string table = table_of(points, {.width = 0});
    EXPECT_THAT(table, HasSubstr("7,032"));
    EXPECT_THAT(table, Not(HasSubstr("~131")));
}

TEST(Table, a_gap_in_a_column_is_marked_and_explained) {
    Point gap = predicted_load("b", 4);
    gap.predicted[Counter::load_sectors_per_request] = Unavailable{"nobody knows"};
    const std::string table =
        table_of({predicted_load("a", 8), gap, predicted_load("c", 16)}, {.width = 0});
    EXPECT_THAT(table, HasSubstr("n/a  load sectors/request: nobody knows"));
    EXPECT_EQ(count_of(table, "n/a"), 2u);
}

TEST(Table, what_found_no_room_is_named_with_the_way_to_see_it) {
    const std::string table = table_of(sweep(), {.width = 50});
    EXPECT_THAT(table, HasSubstr("11 more counters: --columns KEY or --json"));
    EXPECT_THAT(table, Not(HasSubstr("coalprof report")));
    EXPECT_THAT(table_of(sweep(), {.width = 50, .takes_columns = false}),
                HasSubstr("coalprof report"));
    EXPECT_THAT(table_of(sweep(), {.width = 0, .explains_all = true}),
                Not(HasSubstr("ore counters")));
}

// Two kernels of a program: without room, how often they ran gives way to what they cost.
TEST(Table, what_describes_a_kernel_gives_way_to_what_its_accesses_cost) {
    ResultHead head;
    head.sweep.pattern = "run";
    head.sweep.parameter = "kernel";
    std::vector<Point> points;
    for (const std::uint64_t number : {1u, 2u}) {
        Point& point = points.emplace_back();
        point.name = "kernel" + std::to_string(number);
        point.parameters = {{"kernel", point.name},
                            {"grid", std::to_string(number)},
                            {"description_of_it", number}};
        point.measured.emplace();
        (*point.measured)[Counter::load_sectors_per_request] = 4.25 * static_cast<double>(number);
    }
    const std::string wide = table_of(points, {.width = 60}, head);
    EXPECT_THAT(wide, HasSubstr("8.50"));
    EXPECT_THAT(wide, Not(HasSubstr("ore counters")));
    const std::string narrow = table_of(points, {.width = 30}, head);
    EXPECT_THAT(narrow, HasSubstr("grid"));
    EXPECT_THAT(narrow, HasSubstr("8.50"));
    EXPECT_THAT(narrow, HasSubstr("More counters:\n  description_of_it"));
}

// Twenty are named.
TEST(Table, counts_the_failed_points_that_it_does_not_name) {
    std::vector<Point> points = sweep();
    for (int i = 0; i < 23; ++i) points.push_back(synthetic::failed_point(100 + i));
    const std::string table = table_of(points);
    EXPECT_EQ(count_of(table, " failed: "), 20u);
    EXPECT_THAT(table, HasSubstr("3 more points failed"));
}

TEST(Table, control_characters_never_reach_a_terminal) {
    Point point = synthetic::failed_point(0);
    point.name = "\033[2Jcleared\a";
    point.failure = "bell\a";
    point.parameters = {{"\033key", std::string("\033]0;title\a")}};
    ResultHead head = synthetic::head();
    head.sweep.pattern = "\033[31m";
    for (const char c : table_of({point}, {}, head))
        EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << static_cast<int>(c);
}

std::string streamed_table(const std::vector<Point>& points) { return table_of(points, {}, {}); }

// The pages of 1,000 points: what the heading of the first says is not true of the second.
TEST(Table, a_heading_is_true_of_the_rows_below_it) {
    std::vector<Point> points(1000, predicted_load("few", 4));
    points.insert(points.end(), 10, predicted_load("more", 32));
    points.emplace_back().name = "other";
    points.back().predicted[Counter::store_sectors_per_request] = 77.0;
    const std::string table = table_of(points, {.explains_all = true}, {});
    EXPECT_THAT(table, Not(HasSubstr("Same for all rows")));
    EXPECT_EQ(count_of(table, "sectors 4"), 1u);
    EXPECT_EQ(count_of(table, "efficiency"), 2u);
    EXPECT_THAT(table, HasSubstr("77"));
    EXPECT_EQ(count_of(table, "few"), 1000u);
    EXPECT_EQ(count_of(table, "\nmore "), 10u);
}

TEST(Table, pages_stream_and_repeat_no_heading) {
    CollectingSink sink;
    const auto writer = find_format("table").make_writer(sink, {});
    writer->begin({});
    for (std::uint64_t i = 0; i < 20'000; ++i) writer->point(predicted_load("warp", 1 + i % 32));
    EXPECT_GT(sink.writes.size(), 10u);
    writer->finish({});
    EXPECT_EQ(count_of(sink.text(), "efficiency"), 1u);
    EXPECT_EQ(count_of(sink.text(), "warp "), 20'000u);
}

TEST(Table, a_number_too_wide_for_the_last_page_starts_a_new_heading) {
    std::vector<Point> points;
    for (std::uint64_t i = 0; i < 1001; ++i) points.push_back(predicted_load("warp", 1 + i % 8));
    points.push_back(predicted_load("wide", 123'456'789'012));
    const std::string table = streamed_table(points);
    EXPECT_THAT(table, HasSubstr("123,456,789,012"));
    EXPECT_EQ(count_of(table, "efficiency"), 2u);
}

}  // namespace
}  // namespace coalprof
