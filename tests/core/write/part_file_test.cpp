// What becomes of a part file when its run ends, and of other files of its name. What it brings
// back is tested with runs: tests/cli/long_sweeps_test.py.
#include "core/write/part_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/text/error.h"
#include "core/write/output_file.h"
#include "core/write/synthetic.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

struct RefusingSink : ResultSink {
    explicit RefusingSink(ExitCode with) : code(with) {}
    void begin(const ResultHead&) override {}
    void point(const Point&) override { throw Error("cannot go on", code); }
    void finish(const ResultTail&) override {}
    ExitCode code;
};

struct PartRun {
    explicit PartRun(const TemporaryFolder& folder, ExitCode code = ExitCode::done)
        : sink(code), part(folder / "a.json", sink, [this](std::string_view note) {
              said.emplace_back(note);
          }) {
        part.begin(synthetic::head());
    }
    void keep_one(bool is_replayed = false) { part.keep(synthetic::point(0), is_replayed); }

    std::vector<std::string> said;
    RefusingSink sink;
    PartFile part;
};

// The file of a run that was killed behind so many points.
std::string left_by_run(int points) {
    const TemporaryFolder folder;
    PartRun run(folder);
    for (int k = 0; k < points; ++k) run.keep_one();
    return folder.read("a.json.part.jsonl");
}

TEST(PartFile, goes_with_a_whole_result_though_the_link_to_its_folder_was_changed) {
    const TemporaryFolder folder;
    for (const char* name : {"first", "second"}) std::filesystem::create_directory(folder / name);
    std::filesystem::create_directory_symlink("first", folder / "link");
    RefusingSink next(ExitCode::done);
    PartFile part(std::string(folder / "link") + "/a.json", next, [](std::string_view) {});
    part.begin(synthetic::head());
    part.keep(synthetic::point(0), false);
    EXPECT_TRUE(std::filesystem::exists(std::string(folder / "first") + "/a.json.part.jsonl"));
    std::filesystem::remove(folder / "link");
    std::filesystem::create_directory_symlink("second", folder / "link");
    part.finish({});
    EXPECT_FALSE(std::filesystem::exists(std::string(folder / "first") + "/a.json.part.jsonl"));
}

// Points are kept for a later run where only the output is at fault.
TEST(PartFile, stays_when_the_output_fails_and_goes_with_a_run_that_makes_no_sense) {
    for (const auto& [code, is_kept] :
         {std::pair{ExitCode::output, true}, {ExitCode::usage, false}}) {
        const TemporaryFolder folder;
        PartRun run(folder, code);
        run.keep_one();
        EXPECT_THAT(folder.names(), SizeIs(1));
        EXPECT_THROW(run.part.point(synthetic::point(0)), Error);
        EXPECT_THAT(folder.names(), SizeIs(is_kept ? 1 : 0));
        EXPECT_THAT(run.said, SizeIs(is_kept ? 1 : 0));
    }
}

TEST(PartFile, of_an_earlier_run_stays_whatever_ends_the_one_that_goes_on) {
    const std::string before = left_by_run(3);
    for (const ExitCode code : {ExitCode::output, ExitCode::usage})
        for (const bool has_new_point : {false, true}) {
            const TemporaryFolder folder;
            folder.write("a.json.part.jsonl", before);
            PartRun run(folder, code);
            ASSERT_TRUE(run.part.take_over());
            run.keep_one(true);
            if (has_new_point) run.keep_one();
            EXPECT_THROW(run.part.point(synthetic::point(0)), Error);
            EXPECT_THAT(folder.read("a.json.part.jsonl"), StartsWith(before));
        }
}

// Whether few or many of them were replayed, and whatever ends them.
TEST(PartFile, never_loses_a_finished_line_where_a_run_goes_on) {
    const std::string before = left_by_run(3);
    for (const int replayed : {0, 1, 3})
        for (const int points : {0, 2})
            for (const bool is_told : {false, true}) {
                const TemporaryFolder folder;
                folder.write("a.json.part.jsonl", before + R"({"schema":"coalp)");
                {
                    PartRun run(folder);
                    ASSERT_TRUE(run.part.take_over());
                    for (int k = 0; k < replayed; ++k) run.keep_one(true);
                    for (int k = 0; k < points; ++k) run.keep_one();
                    if (is_told) run.part.finish({.status = Status::interrupted});
                }
                const std::string after = folder.read("a.json.part.jsonl");
                EXPECT_THAT(after, StartsWith(before));
                EXPECT_EQ(std::ranges::count(after, '\n'), 3 + points);
            }
}

// A line that was cut may be longer than those that follow: nothing of it stays.
TEST(PartFile, holds_nothing_behind_its_last_line_where_a_run_goes_on) {
    const std::string before = left_by_run(3);
    const TemporaryFolder folder;
    folder.write("a.json.part.jsonl", before + R"({"schema":"coalp)" + std::string(100'000, 'x'));
    PartRun run(folder);
    ASSERT_TRUE(run.part.take_over());
    run.keep_one();
    EXPECT_EQ(folder.read("a.json.part.jsonl").size(), before.size() + left_by_run(1).size());
}

// Somebody has put a file of another kind in its place: that is not this run's to take away.
TEST(PartFile, that_another_file_has_replaced_leaves_that_alone) {
    const TemporaryFolder folder;
    PartRun run(folder);
    run.keep_one();
    folder.write("theirs", "text");
    std::filesystem::rename(folder / "theirs", folder / "a.json.part.jsonl");
    run.part.finish({});
    EXPECT_EQ(folder.read("a.json.part.jsonl"), "text");
}

TEST(PartFile, ends_an_interrupted_run_by_a_line_that_the_next_one_takes_away) {
    const TemporaryFolder folder;
    for (int run = 1; run <= 3; ++run) {
        PartRun one(folder);
        if (run > 1) {
            ASSERT_TRUE(one.part.take_over());
            one.keep_one(true);
        }
        one.keep_one();
        one.part.finish({.status = Status::interrupted});
        const std::string text = folder.read("a.json.part.jsonl");
        EXPECT_EQ(std::ranges::count(text, '\n'), run);
        EXPECT_THAT(text.substr(text.rfind('\n')), HasSubstr(R"("status":"interrupted")"));
    }
}

// As a run leaves it that is killed before its first line is on the disk.
TEST(PartFile, without_a_finished_line_is_taken_over_and_begun_anew) {
    for (const char* text : {"", R"({"schem)", R"({"schema":"coalprof/1","machine")"}) {
        const TemporaryFolder folder;
        folder.write("a.json.part.jsonl", text);
        PartRun run(folder);
        EXPECT_FALSE(run.part.take_over());
        run.keep_one();
        EXPECT_EQ(folder.read("a.json.part.jsonl"), left_by_run(1));
    }
}

// Of another run, or of somebody else: the run goes on without.
TEST(PartFile, that_was_not_taken_over_is_left_alone_and_that_is_said_once) {
    for (const std::string& text : {left_by_run(2), std::string("mine\n"), std::string("mine")}) {
        const TemporaryFolder folder;
        folder.write("a.json.part.jsonl", text);
        PartRun run(folder);
        run.keep_one();
        run.keep_one();
        EXPECT_FALSE(run.part.is_kept());
        EXPECT_THAT(run.said, SizeIs(1));
        run.part.finish({});
        EXPECT_EQ(folder.read("a.json.part.jsonl"), text);
    }
}

TEST(PartFile, that_is_a_link_or_of_a_run_under_way_is_refused) {
    const TemporaryFolder folder;
    PartRun one(folder);
    one.keep_one();
    PartRun other(folder);
    EXPECT_THROW(other.part.take_over(), UsageError);
    const TemporaryFolder linked;
    linked.write("empty", "");
    std::filesystem::create_symlink(linked / "empty", linked / "a.json.part.jsonl");
    PartRun run(linked);
    EXPECT_THROW(run.part.take_over(), UsageError);
    run.keep_one();
    EXPECT_EQ(linked.read("empty"), "");
}

TEST(PartFile, has_a_name_that_no_output_has) {
    const TemporaryFolder folder;
    EXPECT_THROW(OutputFile{folder / "x.json.part.jsonl"}, UsageError);
}

}  // namespace
}  // namespace coalprof
