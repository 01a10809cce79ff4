// Files that earlier versions wrote (tests/data/results) are read by every later one, and so is
// every document that this version holds itself to (tests/data/golden).
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/explain/explanation_json.h"
#include "core/explain/explanation_read.h"
#include "core/judge/verify_json.h"
#include "core/judge/verify_read.h"
#include "core/result/document.h"
#include "core/result/result_reader.h"
#include "core/text/error.h"
#include "core/write/formats.h"
#include "core/write/list_json.h"
#include "test_data.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

std::vector<std::filesystem::path> files_in(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(test_data_folder() + "/" + folder))
        if (const auto suffix = entry.path().extension(); suffix == ".json" || suffix == ".jsonl")
            files.push_back(entry.path());
    return files;
}

std::string content_of(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}

// A result, written again in `format`.
std::string result_again(const std::string& text, const char* format) {
    std::ostringstream stream;
    StreamSink sink(stream);
    const auto writer = find_format(format).make(sink, {});
    const auto source = bytes_of_text(text);
    ResultReader reader(*source, "saved");
    EXPECT_EQ(reader.next(*writer), ReadOutcome::whole);
    return stream.str();
}

// Any document, written again as it was.
std::string written_again(const std::string& text) {
    const auto source = bytes_of_text(text);
    const SavedDocument document(*source, "saved");
    return document.read([&](JsonView root) -> std::string {
        if (root.find("verification")) return json_document(verification_from(root));
        if (root.find("explanation")) {
            const SavedExplanation saved = explanation_from(root);
            return json_document(saved.head, saved.explanation,
                                 saved.worst ? &*saved.worst : nullptr);
        }
        if (root.find("points")) return result_again(text, "json");
        const SavedList saved = list_from(root);
        return list_as_json(saved.head, saved.list);
    });
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST(Documents, of_version_0_1_are_read_and_written_as_they_were) {
    const auto files = files_in("results/v0.1");
    EXPECT_GT(files.size(), 25u);
    for (const auto& path : files) {
        if (path.extension() == ".jsonl") continue;
        const std::string text = content_of(path);
        // These are of a made-up GPU, with members in an order that no version wrote: they come out
        // in the usual one.
        const bool is_made_up =
            text.find("\"type\":\"f32\",\"op\":\"rmw\",\"size_bytes\":4096") != text.npos;
        const std::string again = written_again(text);
        EXPECT_EQ(is_made_up ? written_again(again) : again, is_made_up ? again : text) << path;
        EXPECT_EQ(again.size(), text.size()) << path;
    }
}

// Advice, estimates of time, findings with what they save.
TEST(Documents, of_version_0_1_with_times_are_read_and_written_as_they_were) {
    const auto files = files_in("results/v0.1-times");
    EXPECT_EQ(files.size(), 3u);
    for (const auto& path : files) {
        const std::string text = content_of(path);
        EXPECT_EQ(written_again(text), text) << path;
    }
}

TEST(Documents, with_an_interval_that_is_none_are_not_taken_for_whole) {
    const std::string lines = content_of(test_data_folder() + "/results/v0.1-times/lines.json");
    const std::string saves = "\"saves_interval_seconds\":[";
    for (const char* more : {"1,", "-1,", "\"x\","}) {
        std::string broken = lines;
        broken.insert(broken.find(saves) + saves.size(), more);
        const auto source = bytes_of_text(broken);
        ResultReader reader(*source, "saved");
        std::ostringstream stream;
        StreamSink sink(stream);
        const auto writer = find_format("json").make(sink, {});
        EXPECT_NE(reader.next(*writer), ReadOutcome::whole) << more;
    }
}

TEST(Documents, of_lines_of_version_0_1_give_all_their_points) {
    for (const auto& path : files_in("results/v0.1")) {
        if (path.extension() != ".jsonl") continue;
        const std::string text = content_of(path);
        EXPECT_EQ(count_of(result_again(text, "json"), "\n{\"name\":"), count_of(text, "\n"))
            << path;
    }
}

TEST(Documents, of_this_version_are_read_and_written_as_they_are) {
    for (const auto& path : files_in("golden")) {
        const std::string text = content_of(path);
        const std::string again =
            path.extension() == ".jsonl" ? result_again(text, "jsonl") : written_again(text);
        EXPECT_EQ(again, text) << path;
    }
}

TEST(Documents, that_lack_what_they_must_have_are_refused_with_the_place) {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            written_again(text);
        } catch (const UsageError& error) {
            return error.what();
        }
        return {};
    };
    const std::string explained = content_of(test_data_folder() + "/results/v0.1/explain.json");
    for (const char* name : {"\"warps\"", "\"accesses\"", "\"lanes\"", "\"cause\"", "\"meta\""}) {
        std::string broken = explained;
        broken.replace(broken.find(name) + 1, 1, "X");
        EXPECT_THAT(refusal(broken), HasSubstr("is missing")) << name;
    }
    EXPECT_THAT(refusal(explained.substr(0, explained.size() / 2)), HasSubstr("it was cut"));
    EXPECT_THAT(refusal("{\"schema\":\"coalprof/2\"}"), HasSubstr("newer"));
}

}  // namespace
}  // namespace coalprof
