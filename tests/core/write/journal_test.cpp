// What becomes of a journal when its run ends, and of the files that have its name. What it brings
// back is tested with runs: tests/cli/long_sweeps_test.py.
#include "core/write/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits.h>

#include <algorithm>
#include <filesystem>

#include "core/text/error.h"
#include "core/write/output_file.h"
#include "core/write/synthetic.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

struct RefusingSink : ResultSink {
    explicit RefusingSink(ExitCode with) : code(with) {}
    void begin(const ResultHead&) override {}
    void point(const Point&) override { throw Error("cannot go on", code); }
    void finish(const ResultTail&) override {}
    ExitCode code;
};

struct JournalRun {
    explicit JournalRun(const TemporaryFolder& folder, ExitCode code = ExitCode::done)
        : sink(code), journal(folder / "a.json", sink, [this](std::string_view note) {
              said.emplace_back(note);
          }) {
        journal.begin(synthetic::head());
    }
    void keep_one(bool is_replayed = false) { journal.keep(synthetic::point(0), is_replayed); }

    std::vector<std::string> said;
    RefusingSink sink;
    Journal journal;
};

// The journal of a run that was killed behind so many points.
std::string left_by_run(int points) {
    const TemporaryFolder folder;
    JournalRun run(folder);
    for (int k = 0; k < points; ++k) run.keep_one();
    return folder.read("a.json.journal");
}

TEST(Journal, goes_with_a_whole_result_though_the_link_to_its_folder_was_changed) {
    const TemporaryFolder folder;
    for (const char* name : {"first", "second"}) std::filesystem::create_directory(folder / name);
    std::filesystem::create_directory_symlink("first", folder / "link");
    RefusingSink next(ExitCode::done);
    Journal journal(std::string(folder / "link") + "/a.json", next, [](std::string_view) {});
    journal.begin(synthetic::head());
    journal.keep(synthetic::point(0), false);
    EXPECT_TRUE(std::filesystem::exists(std::string(folder / "first") + "/a.json.journal"));
    std::filesystem::remove(folder / "link");
    std::filesystem::create_directory_symlink("second", folder / "link");
    journal.finish({});
    EXPECT_FALSE(std::filesystem::exists(std::string(folder / "first") + "/a.json.journal"));
}

// Points are kept for a later run where only the output is at fault.
TEST(Journal, stays_when_the_output_fails_and_goes_with_a_run_that_makes_no_sense) {
    for (const auto& [code, is_kept] :
         {std::pair{ExitCode::output, true}, {ExitCode::usage, false}}) {
        const TemporaryFolder folder;
        JournalRun run(folder, code);
        run.keep_one();
        EXPECT_THAT(folder.names(), SizeIs(1));
        EXPECT_THROW(run.journal.point(synthetic::point(0)), Error);
        EXPECT_THAT(folder.names(), SizeIs(is_kept ? 1 : 0));
        EXPECT_THAT(run.said, SizeIs(is_kept ? 1 : 0));
    }
}

TEST(Journal, of_an_earlier_run_stays_whatever_ends_the_one_that_goes_on) {
    const std::string before = left_by_run(3);
    for (const ExitCode code : {ExitCode::output, ExitCode::usage})
        for (const bool has_new_point : {false, true}) {
            const TemporaryFolder folder;
            folder.write("a.json.journal", before);
            JournalRun run(folder, code);
            ASSERT_TRUE(run.journal.go_on(folder / "a.json.journal"));
            run.keep_one(true);
            if (has_new_point) run.keep_one();
            EXPECT_THROW(run.journal.point(synthetic::point(0)), Error);
            EXPECT_THAT(folder.read("a.json.journal"), StartsWith(before));
        }
}

// Whether few or many of them were replayed, and whatever ends them.
TEST(Journal, never_loses_a_finished_line_where_a_run_goes_on) {
    const std::string before = left_by_run(3);
    for (const int replayed : {0, 1, 3})
        for (const int points : {0, 2})
            for (const bool is_told : {false, true}) {
                const TemporaryFolder folder;
                folder.write("a.json.journal", before + R"({"schema":"coalp)");
                {
                    JournalRun run(folder);
                    ASSERT_TRUE(run.journal.go_on(folder / "a.json.journal"));
                    for (int k = 0; k < replayed; ++k) run.keep_one(true);
                    for (int k = 0; k < points; ++k) run.keep_one();
                    if (is_told) run.journal.finish({.status = Status::interrupted});
                }
                const std::string after = folder.read("a.json.journal");
                EXPECT_THAT(after, StartsWith(before));
                EXPECT_EQ(std::ranges::count(after, '\n'), 3 + points);
            }
}

// A line that was cut may be longer than those that follow: nothing of it stays.
TEST(Journal, holds_nothing_behind_its_last_line_where_a_run_goes_on) {
    const std::string before = left_by_run(3);
    const TemporaryFolder folder;
    folder.write("a.json.journal", before + R"({"schema":"coalp)" + std::string(100'000, 'x'));
    JournalRun run(folder);
    ASSERT_TRUE(run.journal.go_on(folder / "a.json.journal"));
    run.keep_one();
    EXPECT_EQ(folder.read("a.json.journal").size(), before.size() + left_by_run(1).size());
}

// Somebody has put a file of another kind in its place: that is not this run's to take away.
TEST(Journal, that_another_file_has_replaced_leaves_that_alone) {
    const TemporaryFolder folder;
    JournalRun run(folder);
    run.keep_one();
    folder.write("theirs", "text");
    std::filesystem::rename(folder / "theirs", folder / "a.json.journal");
    run.journal.finish({});
    EXPECT_EQ(folder.read("a.json.journal"), "text");
}

TEST(Journal, ends_an_interrupted_run_by_a_line_that_the_next_one_takes_away) {
    const TemporaryFolder folder;
    for (int run = 1; run <= 3; ++run) {
        JournalRun one(folder);
        if (run > 1) {
            ASSERT_TRUE(one.journal.go_on(folder / "a.json.journal"));
            one.keep_one(true);
        }
        one.keep_one();
        one.journal.finish({.status = Status::interrupted});
        const std::string text = folder.read("a.json.journal");
        EXPECT_EQ(std::ranges::count(text, '\n'), run);
        EXPECT_THAT(text.substr(text.rfind('\n')), HasSubstr(R"("status":"interrupted")"));
    }
}

// Of another sweep, of an earlier run that is not gone on from, or of somebody else.
TEST(Journal, leaves_every_file_of_its_name_alone_and_takes_another_name) {
    for (const std::string& text : {left_by_run(2), std::string("mine\n"), std::string("mine")}) {
        const TemporaryFolder folder;
        folder.write("a.json.journal", text);
        {
            JournalRun run(folder);
            run.keep_one();
            EXPECT_THAT(folder.names(), UnorderedElementsAre("a.json.journal", "a.json.2.journal"));
            run.journal.finish({});
        }
        EXPECT_THAT(folder.names(), ElementsAre("a.json.journal"));
        EXPECT_EQ(folder.read("a.json.journal"), text);
    }
}

TEST(Journal, follows_no_link) {
    const TemporaryFolder folder;
    folder.write("empty", "");
    std::filesystem::create_symlink(folder / "empty", folder / "a.json.journal");
    JournalRun run(folder);
    run.keep_one();
    EXPECT_EQ(folder.read("empty"), "");
    EXPECT_THAT(folder.names(),
                UnorderedElementsAre("empty", "a.json.journal", "a.json.2.journal"));
}

// As a run leaves it that is killed before its first line is on the disk.
TEST(Journal, takes_over_a_file_without_a_finished_line) {
    for (const char* text : {"", R"({"schem)", R"({"schema":"coalprof/1","machine")"}) {
        const TemporaryFolder folder;
        folder.write("a.json.journal", text);
        EXPECT_THAT(journals_beside(folder / "a.json"), IsEmpty());
        JournalRun run(folder);
        run.keep_one();
        EXPECT_THAT(folder.names(), ElementsAre("a.json.journal"));
        EXPECT_EQ(folder.read("a.json.journal"), left_by_run(1));
    }
}

TEST(Journal, is_of_one_run_at_a_time) {
    const TemporaryFolder folder;
    JournalRun one(folder);
    one.keep_one();
    JournalRun other(folder);
    EXPECT_FALSE(other.journal.go_on(folder / "a.json.journal"));
    other.keep_one();
    EXPECT_THAT(journals_beside(folder / "a.json"),
                ElementsAre(folder / "a.json.journal", folder / "a.json.2.journal"));
    // Nor is one that is being written taken away with those that a result has superseded.
    other.journal.supersede({folder / "a.json.journal"});
    other.journal.finish({});
    EXPECT_THAT(folder.names(), ElementsAre("a.json.journal"));
}

TEST(Journal, goes_with_those_that_a_complete_result_has_superseded) {
    const TemporaryFolder folder;
    folder.write("a.json.journal", left_by_run(2));
    folder.write("a.json.2.journal", left_by_run(1));
    JournalRun run(folder);
    run.keep_one();
    run.journal.supersede({folder / "a.json.journal"});
    run.journal.finish({});
    EXPECT_THAT(folder.names(), ElementsAre("a.json.2.journal"));
}

TEST(Journal, that_can_have_no_name_is_said_once_and_is_no_failure) {
    const TemporaryFolder folder;
    for (int number = 1; number < 100; ++number)
        folder.write(journal_path("a.json", number), "mine\n");
    JournalRun run(folder);
    run.keep_one();
    run.keep_one();
    EXPECT_FALSE(run.journal.is_kept());
    EXPECT_THAT(run.said, SizeIs(1));
    EXPECT_THAT(folder.names(), SizeIs(99));
}

TEST(Journal, has_a_name_that_no_other_output_has_and_that_is_not_too_long) {
    EXPECT_EQ(journal_path("a/x.json"), "a/x.json.journal");
    EXPECT_EQ(journal_path("a/x.json", 2), "a/x.json.2.journal");
    const TemporaryFolder folder;
    EXPECT_THROW(OutputFile{folder / "x.json.journal"}, UsageError);
    const std::string longest = journal_path("a.b/" + std::string(NAME_MAX, 'x'), 2);
    EXPECT_THAT(longest, EndsWith("x.2.journal"));
    EXPECT_EQ(longest.size(), 4u + NAME_MAX);
}

}  // namespace
}  // namespace coalprof
