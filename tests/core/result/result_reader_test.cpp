// The law of saved results: what is written can be read, and written again it is the same. Of a
// file that is cut or damaged every whole point is there, and the place is named.
#include "core/result/result_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/text/error.h"
#include "core/text/refusal.h"
#include "core/write/synthetic.h"
#include "stream_sink.h"
#include "text_source.h"

namespace coalprof {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what it is told.
struct KeptResult : ResultSink {
    void begin(const ResultHead& its_head) override { head = its_head; }
    void point(const Point& point) override { points.push_back(point); }
    void finish(const ResultTail& its_tail) override { tail = its_tail; }

    ResultHead head;
    std::vector<Point> points;
    ResultTail tail;
};

struct Read {
    KeptResult result;
    ReadOutcome outcome = ReadOutcome::none;
};

Read read(const std::string& text, std::size_t block_bytes = std::string_view::npos) {
    const auto source = bytes_of_text(text, block_bytes);
    ResultReader reader(*source, "x.json");
    Read read;
    read.outcome = reader.next(read.result);
    return read;
}

std::string written(const KeptResult& result, const char* format) {
    std::ostringstream stream;
    StreamSink sink(stream);
    const auto writer = find_format(format).make(sink, {});
    writer->begin(result.head);
    for (const Point& point : result.points) writer->point(point);
    writer->finish(result.tail);
    return stream.str();
}

// A result with all that one can have: numbers of every kind, reasons of prediction and
// measurement, a failed point, settings that are judged, text of every kind.
KeptResult rich_result() {
    KeptResult result;
    result.head = synthetic::head();
    result.head.argv = {"coalprof", "a \"b\"\\\n\x01", "é€😀"};
    result.head.environment = {{"LD_PRELOAD", "/a b/libx.so"}};
    result.head.device->copy_ceiling = Unavailable{"no memory for it"};
    result.head.columns = {Counter::load_sectors, Counter::duration_seconds};
    result.head.sweep.repeat = 20;
    result.head.sweep.cache = "cold";
    result.points = {synthetic::point(0), synthetic::point(1), synthetic::failed_point(8)};
    result.points[0].estimates = synthetic::estimated_point(32).estimates;
    Point& odd = result.points[1];
    odd.name = "=odd, \"name\"\t";
    odd.parameters = {{"lanes", ~std::uint64_t{0}}, {"k", -3}, {"x", 0.1}, {"on", true}, {"", {}}};
    odd.predicted[Counter::load_sectors] = ~std::uint64_t{0};
    odd.predicted[Counter::load_efficiency] = 0.1 + 0.2;
    odd.predicted[Counter::l1_hit_sectors] = Unavailable{""};
    (*odd.measured)[Counter::duration_seconds] = 1e-300;
    odd.launch = LaunchSettings{.architecture = "sm_90",
                                .grid_blocks = 1u << 31,
                                .block_threads = 256,
                                .registers = 32,
                                .blocks_per_multiprocessor = 8,
                                .occupancy = 0.875,
                                .l2_fetch_bytes = 64};
    result.points[0].launch = LaunchSettings{.architecture = "sm_90", .carveout_percent = 100};
    InstructionResult load{.array = "a",
                           .op = "load",
                           .type = "f32",
                           .index = "i*2\n+1",
                           .access = "*(p +\ni)",
                           .predicted = {}};
    load.predicted[Counter::load_sectors] = std::uint64_t{8};
    result.points[0].instructions = {load, load};
    result.points[0].instructions[1].index.clear();  // nobody wrote one
    result.tail = {
        .status = Status::partial,
        .warnings = {{"W-MISMATCH", "offset=1", "load_sectors: 1 and 2"},
                     {"W-NO-COUNTERS", "", "\"profiler\""}},
        .verdicts = {{.scope = {{"machine", "h100"}},
                      .combinations = 2,
                      .values = 3,
                      .best = {{{"dlcm", "ca"}}, {{"dlcm", "cg"}}},
                      .gain = 1.25,
                      .text = "dlcm ca"},
                     {.text = "not known"}},
        .findings = {
            {.point = "app.cu:7 ld",
             .cause = "strided",
             .text = "3 bytes \"apart\"",
             .fix = "none",
             .like = "stride --at 3",
             .saves_seconds = 1e-3,
             .saves_interval_seconds = {{5e-4, 1.5e-3}}},
            {.point = "app.cu:8 st", .cause = "scattered", .text = "x", .fix = "y", .like = {}}}};
    return result;
}

KeptResult without_points() {
    KeptResult result = rich_result();
    result.points.clear();
    result.head.device.reset();
    return result;
}

TEST(SavedResult, is_the_same_when_it_is_read_and_written_again) {
    for (const KeptResult& result : {rich_result(), without_points()})
        for (const char* format : {"json", "jsonl"}) {
            const std::string first = written(result, format);
            const Read again = read(first);
            EXPECT_EQ(again.outcome, ReadOutcome::whole);
            EXPECT_EQ(written(again.result, format), first);
        }
}

TEST(SavedResult, is_the_same_whichever_way_it_went) {
    const std::string json = written(rich_result(), "json");
    const std::string lines = written(read(json).result, "jsonl");
    EXPECT_EQ(written(read(lines).result, "json"), json);
}

TEST(SavedResult, is_read_alike_in_blocks_of_any_size) {
    const std::string json = written(rich_result(), "json");
    for (const std::size_t block : {1u, 2u, 3u, 1000u})
        EXPECT_EQ(written(read(json, block).result, "json"), json);
}

TEST(SavedResult, keeps_the_kind_of_every_reading) {
    const KeptResult result = read(written(rich_result(), "json")).result;
    const Point& point = result.points[0];
    EXPECT_EQ(point.predicted[Counter::load_sectors], Reading{std::uint64_t{128}});
    EXPECT_EQ(point.predicted[Counter::load_sectors_per_request], Reading{4.0});
    EXPECT_EQ(point.predicted[Counter::dram_read_bytes],
              Reading{Unavailable{"only a measurement can tell"}});
    EXPECT_EQ((*point.measured)[Counter::dram_read_bytes],
              Reading{Unavailable{"this \"GPU\" has no such counter"}});
    EXPECT_FALSE(is_present(point.predicted[Counter::atomic_sectors]));
    ASSERT_EQ(point.instructions.size(), 2u);
    EXPECT_EQ(point.instructions[0].index, "i*2\n+1");
    EXPECT_EQ(point.instructions[1].index, "");
    EXPECT_EQ(point.timing->repeats, 20u);
    EXPECT_FALSE(result.points[2].measured);
}

TEST(SavedResult, keeps_intervals_and_what_limits_a_launch) {
    const KeptResult result = read(written(rich_result(), "json")).result;
    EXPECT_FALSE(result.points[1].estimates);
    const auto& estimates = result.points[0].estimates;
    ASSERT_TRUE(estimates);
    ASSERT_EQ(estimates->intervals.size(), 4u);
    EXPECT_EQ(estimates->of(Counter::l2_read_sectors)->low, 130);
    EXPECT_EQ(estimates->of(Counter::l2_read_sectors)->high, 133.5);
    EXPECT_EQ(estimates->limits, std::vector{Limit::dram});
}

// Each line ends in a newline, and those of points hold "name": a cut keeps the points that are
// whole in front of it.
TEST(SavedResult, gives_of_every_beginning_the_points_that_are_whole) {
    for (const char* format : {"json", "jsonl"}) {
        const std::string text = written(rich_result(), format);
        const std::size_t first = text.find("\"name\":\"offset=0\"");
        for (std::size_t size = text.find('\n', first); size + 2 < text.size(); size += 7) {
            const std::string beginning = text.substr(0, size);
            const Read cut = read(beginning);
            EXPECT_EQ(cut.outcome, ReadOutcome::damaged) << size;
            EXPECT_EQ(cut.result.tail.status, Status::interrupted);
            ASSERT_FALSE(cut.result.tail.warnings.empty());
            EXPECT_THAT(cut.result.tail.warnings.front().text, HasSubstr("x.json:"));
            // A document has four lines in front of its points, and some behind them.
            const auto lines = std::count(beginning.begin(), beginning.end(), '\n') -
                               (format == std::string("json") ? 4 : 0);
            const auto whole = std::min<std::ptrdiff_t>(lines, 3);
            EXPECT_THAT(static_cast<std::ptrdiff_t>(cut.result.points.size()),
                        AnyOf(whole, whole + 1));
            EXPECT_GE(cut.result.points.size(), 1u);
        }
    }
}

TEST(SavedResult, of_lines_loses_only_those_that_are_damaged) {
    std::string lines = written(rich_result(), "jsonl");
    const std::size_t second = lines.find('\n') + 1;
    lines.replace(second, 20, 20, '\0');  // as after a power cut
    const Read damaged = read(lines);
    EXPECT_EQ(damaged.outcome, ReadOutcome::damaged);
    EXPECT_EQ(damaged.result.points.size(), 2u);
    EXPECT_THAT(damaged.result.tail.warnings.back().text,
                HasSubstr("x.json:2: a line is left out"));
}

// The last line says how the run ended.
std::string without_the_last(const std::string& lines) {
    return lines.substr(0, lines.rfind('\n', lines.size() - 2) + 1);
}
// Points that were measured, each on a line of its own.
std::string points_in_lines(std::size_t count, const char* machine = "h200") {
    KeptResult result = rich_result();
    result.head.machine.name = machine;
    result.points.assign(count, synthetic::point(1));
    return without_the_last(written(result, "jsonl"));
}
// As points_in_lines() gives them, without the first, which says what the run was.
std::string behind_the_first(const std::string& lines) {
    return lines.substr(lines.find('\n') + 1);
}

TEST(SavedResult, of_many_damages_names_twenty_and_counts_the_others) {
    std::string lines = points_in_lines(31);
    for (std::size_t at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1))
        lines[at + 1] = '?';
    const Read damaged = read(lines);
    EXPECT_EQ(damaged.result.points.size(), 1u);
    const std::vector<Warning>& warnings = damaged.result.tail.warnings;
    ASSERT_EQ(warnings.size(), 21u);
    // 30 lines, and that of how the run ended, which is missing.
    EXPECT_EQ(warnings.back().text, "11 more places are damaged");
}

TEST(SavedResult, of_lines_that_end_within_one_is_said_to_once) {
    const std::string lines = points_in_lines(3);
    const Read cut = read(lines.substr(0, lines.size() - 20));
    EXPECT_EQ(cut.result.points.size(), 2u);
    ASSERT_EQ(cut.result.tail.warnings.size(), 1u);
    EXPECT_THAT(cut.result.tail.warnings[0].text, HasSubstr("the file ends within a value"));
}

TEST(SavedResult, in_lines_of_its_middle_is_as_good_as_its_points) {
    const std::string lines = behind_the_first(points_in_lines(3));
    EXPECT_EQ(read(lines).result.tail.status, Status::complete);
    // Of these the last failed.
    const std::string some = without_the_last(written(rich_result(), "jsonl"));
    EXPECT_EQ(read(behind_the_first(some)).result.tail.status, Status::partial);
}

TEST(SavedResult, of_another_machine_is_another_one) {
    const std::string lines =
        behind_the_first(points_in_lines(3)) + behind_the_first(points_in_lines(2, "a100"));
    const auto source = bytes_of_text(lines);
    ResultReader reader(*source, "x.jsonl");
    KeptResult first;
    KeptResult second;
    EXPECT_EQ(reader.next(first), ReadOutcome::whole);
    EXPECT_EQ(reader.next(second), ReadOutcome::whole);
    EXPECT_EQ(first.points.size(), 2u);
    EXPECT_EQ(second.points.size(), 1u);
    EXPECT_EQ(second.head.machine.name, "a100");
}

TEST(SavedResult, says_that_how_its_run_ended_makes_no_sense) {
    std::string json = written(rich_result(), "json");
    const std::string good = "\"status\":\"partial\"";
    json.replace(json.find(good), good.size(), "\"status\":\"happy\"");
    const Read damaged = read(json);
    EXPECT_EQ(damaged.outcome, ReadOutcome::damaged);
    EXPECT_EQ(damaged.result.points.size(), 3u);
    ASSERT_FALSE(damaged.result.tail.warnings.empty());
    EXPECT_THAT(damaged.result.tail.warnings.back().text, HasSubstr("how the run ended is lost"));
}

TEST(SavedResult, compares_settings_where_its_points_have_them) {
    KeptResult result = rich_result();
    for (Point& point : result.points) point.parameters = {{"offset", 1}};
    EXPECT_FALSE(read(written(result, "json")).result.head.compares_settings);
    for (Point& point : result.points) point.parameters.emplace_back("dlcm", "cg");
    for (const char* format : {"json", "jsonl"})
        EXPECT_TRUE(read(written(result, format)).result.head.compares_settings);
}

TEST(SavedResult, leaves_out_a_point_that_makes_no_sense_and_says_where) {
    std::string json = written(rich_result(), "json");
    const std::string good = "\"load_requests\":32";
    json.replace(json.find(good), good.size(), "\"load_requests\":[]");
    const Read damaged = read(json);
    EXPECT_EQ(damaged.outcome, ReadOutcome::damaged);
    EXPECT_EQ(damaged.result.points.size(), 2u);
    EXPECT_THAT(damaged.result.tail.warnings.back().text,
                HasSubstr("predicted.load_requests is not a number"));
}

std::string refusal_of(const std::string& text) {
    return usage_error_of([&] { read(text); }).what();
}

TEST(SavedResult, is_refused_before_it_begins_where_it_is_none) {
    EXPECT_THAT(refusal_of(""), HasSubstr("empty"));
    EXPECT_THAT(refusal_of("NAME load 4"), HasSubstr("x.json:1"));
    EXPECT_THAT(refusal_of("{\"a\":1}"), HasSubstr("no schema of coalprof"));
    EXPECT_THAT(refusal_of("{\"schema\":\"other/1\",\"points\":[]}"),
                HasSubstr("no schema of coalprof"));
    EXPECT_THAT(refusal_of("{\"schema\":\"coalprof/1\",\"patterns\":[]}"), HasSubstr("a list"));
    EXPECT_THAT(refusal_of("{\"schema\":\"coalprof/1\",\"points\":[]}"),
                HasSubstr("meta is missing"));
    EXPECT_THAT(refusal_of("{\"schema\":\"coalprof/1\",\"explanation\":{}}"), HasSubstr("explain"));
}

// Nobody was told of a result, so that none can end.
TEST(SavedResult, is_refused_where_it_ends_or_breaks_before_it_begins) {
    const std::string json = written(rich_result(), "json");
    EXPECT_THAT(refusal_of(json.substr(0, json.find("\"machine\""))), HasSubstr("x.json:2: "));
    const std::string broken = json + "{]";
    const auto source = bytes_of_text(broken);
    ResultReader reader(*source, "x.json");
    KeptResult first;
    EXPECT_EQ(reader.next(first), ReadOutcome::whole);
    KeptResult second;
    EXPECT_THROW(reader.next(second), UsageError);
}

TEST(SavedResult, of_a_newer_schema_is_refused_and_of_a_newer_minor_one_read) {
    std::string json = written(rich_result(), "json");
    const std::string schema = "coalprof/1";
    EXPECT_EQ(read(std::string(json).replace(json.find(schema), schema.size(), "coalprof/1.7"))
                  .result.points.size(),
              3u);
    EXPECT_THAT(refusal_of(json.replace(json.find(schema), schema.size(), "coalprof/2")),
                HasSubstr("coalprof/2 is newer"));
}

TEST(SavedResult, may_have_members_that_a_later_version_added) {
    std::string json = written(without_points(), "json");
    const auto add = [&](const std::string& behind, const std::string& more) {
        json.insert(json.find(behind) + behind.size(), more);
    };
    add("\"meta\":{", "\"new\":{\"a\":[1]},");
    add("\"machine\":{", "\"new\":1,");
    add("\"sweep\":{", "\"new\":[],");
    const Read later = read(json);
    EXPECT_EQ(later.outcome, ReadOutcome::whole);
    EXPECT_THAT(later.result.head.machine.more, ElementsAre(testing::Pair("new", Value{1})));
}

// As `jq -S` writes it: names sorted, points in front of what they belong to.
TEST(SavedResult, may_stand_in_any_order) {
    const std::string json = written(rich_result(), "json");
    const std::size_t points = json.find("\"points\":[");
    const std::size_t end = json.find("\n],\n");
    const std::string list = json.substr(points, end + 2 - points);
    std::string sorted = json;
    sorted.erase(points, end + 4 - points);
    sorted.insert(1, list + ",");
    EXPECT_EQ(written(read(sorted).result, "json"), json);
    // The one behind it has a head of its own.
    const std::string both = sorted + json;
    const auto source = bytes_of_text(both);
    ResultReader reader(*source, "x.json");
    KeptResult first;
    EXPECT_EQ(reader.next(first), ReadOutcome::whole);
    KeptResult second;
    EXPECT_EQ(reader.next(second), ReadOutcome::whole);
    EXPECT_EQ(written(second, "json"), json);
}

TEST(SavedResult, of_several_runs_in_one_file_is_read_one_after_the_other) {
    KeptResult second = rich_result();
    second.head.sweep.pattern = "stride";
    const std::string lines = written(rich_result(), "jsonl") + written(second, "jsonl");
    const auto source = bytes_of_text(lines);
    ResultReader reader(*source, "x.jsonl");
    KeptResult first_read;
    KeptResult second_read;
    EXPECT_EQ(reader.next(first_read), ReadOutcome::whole);
    EXPECT_EQ(reader.next(second_read), ReadOutcome::whole);
    KeptResult none;
    EXPECT_EQ(reader.next(none), ReadOutcome::none);
    EXPECT_EQ(written(first_read, "jsonl") + written(second_read, "jsonl"), lines);
}

// `grep` and `shuf` take lines apart: each says what it belongs to.
TEST(SavedResult, can_be_some_lines_of_a_run) {
    const std::string lines = written(rich_result(), "jsonl");
    const std::size_t second = lines.find('\n') + 1;
    const Read some = read(lines.substr(second, lines.find('\n', second) + 1 - second));
    EXPECT_EQ(some.outcome, ReadOutcome::whole);
    EXPECT_EQ(some.result.points.size(), 1u);
    EXPECT_EQ(some.result.head.machine.name, "h200");
    EXPECT_EQ(some.result.head.device->name, "NVIDIA H200");
    EXPECT_EQ(some.result.head.sweep.size_bytes, 4096u);
}

TEST(SavedResult, of_lines_is_refused_where_a_setting_is_of_another_kind) {
    EXPECT_THAT(
        refusal_of("{\"schema\":\"coalprof/1\",\"machine\":\"h200\",\"sweep\":{\"tile\":\"f32\"},"
                   "\"name\":\"a\",\"parameters\":{},\"predicted\":{},\"measured\":null}"),
        HasSubstr("sweep.tile"));
}

}  // namespace
}  // namespace coalprof
