// Results and lists are read and written again as they were, and those that lack a part are
// refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/result/document.h"
#include "core/result/result_reader.h"
#include "core/text/error.h"
#include "core/text/refusal.h"
#include "core/write/formats.h"
#include "core/write/list_json.h"
#include "core/write/synthetic.h"
#include "stream_sink.h"
#include "test_data.h"
#include "text_source.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

ResultHead origin() {
    ResultHead head;
    head.coalprof_version = "1.2.3";
    head.argv = {"coalprof", "x y"};
    head.time_utc = "2026-11-26T00:00:00Z";
    return head;
}

std::string content_of(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}

std::string result_again(const std::string& text, const char* format) {
    std::ostringstream stream;
    StreamSink sink(stream);
    const auto writer = find_format(format).make(sink, {});
    const auto source = bytes_of_text(text);
    ResultReader reader(*source, "saved");
    EXPECT_EQ(reader.next(*writer), ReadOutcome::whole);
    return stream.str();
}

std::string written_again(const std::string& text) {
    const auto source = bytes_of_text(text);
    const SavedDocument document(*source, "saved");
    return document.read([&](JsonView root) -> std::string {
        if (root.find("points")) return result_again(text, "json");
        const SavedList saved = list_from(root);
        return list_as_json(saved.head, saved.list);
    });
}

TEST(Documents, of_results_are_read_and_written_as_they_are) {
    for (const auto& entry : std::filesystem::directory_iterator(test_data_folder() + "/golden")) {
        const std::filesystem::path& path = entry.path();
        const std::string text = content_of(path);
        if (path.extension() == ".jsonl") {
            EXPECT_EQ(result_again(text, "jsonl"), text) << path;
        } else if (path.extension() == ".json" && path.stem() != "verified") {
            EXPECT_EQ(written_again(text), text) << path;
        }
    }
}

TEST(Documents, of_lists_are_read_and_written_as_they_are) {
    const ListDocument list{
        .key = "machines",
        .rows = {{.values = {{"name", "x"}, {"bytes", std::int64_t{7}}, {"none", {}}},
                  .lists = {{"words", {Value{"a"}, Value{true}, Value{0.5}}}}},
                 {.values = {}}},
        .more = {{"problem", "no \"driver\""}}};
    const std::string text = list_as_json(origin(), list);
    EXPECT_EQ(written_again(text), text);
}

TEST(Documents, with_an_interval_that_is_none_are_not_taken_for_whole) {
    const LineFinding finding{.point = "offset=0",
                              .cause = "strided",
                              .text = "x",
                              .fix = "y",
                              .like = {},
                              .saves_seconds = 1e-3,
                              .saves_interval_seconds = {{5e-4, 1.5e-3}}};
    const std::string whole = synthetic::written(
        find_format("json"), synthetic::head(), {synthetic::point(0)}, {}, {.findings = {finding}});
    EXPECT_EQ(result_again(whole, "json"), whole);
    const std::string saves = "\"saves_interval_seconds\":[";
    for (const char* more : {"1,", "-1,", "\"x\","}) {
        std::string broken = whole;
        broken.insert(broken.find(saves) + saves.size(), more);
        const auto source = bytes_of_text(broken);
        ResultReader reader(*source, "saved");
        std::ostringstream stream;
        StreamSink sink(stream);
        EXPECT_NE(reader.next(*find_format("json").make(sink, {})), ReadOutcome::whole) << more;
    }
}

TEST(Documents, that_lack_what_they_must_have_are_refused_with_the_place) {
    const auto refused = [](const std::string& text) -> std::string {
        return usage_error_of([&] { written_again(text); }).what();
    };
    const std::string whole = list_as_json(origin(), {.key = "machines", .rows = {}});
    std::string without_time = whole;
    without_time.replace(without_time.find("\"time\"") + 1, 1, "X");
    EXPECT_THAT(refused(without_time), HasSubstr("time is missing"));
    EXPECT_THAT(refused(whole.substr(0, whole.size() / 2)), HasSubstr("it was cut"));
    EXPECT_THAT(refused("{\"schema\":\"coalprof/2\"}"), HasSubstr("newer"));
}

}  // namespace
}  // namespace coalprof
