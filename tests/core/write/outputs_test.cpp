#include "core/write/outputs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "core/text/byte_source.h"
#include "core/text/files_in_use.h"
#include "core/write/output_file.h"
#include "core/write/synthetic.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

OutputTarget target(const std::string& path, std::string_view format = {}) {
    return {path, format.empty() ? &format_of_path(path) : &find_format(format), {}};
}

void write_all_points(Outputs& outputs, int points = 1) {
    outputs.begin(synthetic::head());
    for (int i = 0; i < points; ++i) outputs.point(synthetic::point(i));
    outputs.finish({});
}

// Standard output led elsewhere for the length of a test.
class Redirected {
 public:
    explicit Redirected(int to) : saved_(::dup(STDOUT_FILENO)) { ::dup2(to, STDOUT_FILENO); }
    ~Redirected() {
        ::dup2(saved_, STDOUT_FILENO);
        ::close(saved_);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

 private:
    int saved_;
};

// The writing end of a pipe whose reader has left.
int pipe_without_reader() {
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    return ends[1];
}

// Two loads are one load_sectors; a load and a store are told apart.
TEST(Outputs, say_that_rows_of_csv_are_sums_where_they_are) {
    const TemporaryFolder folder;
    const auto notes = [&](const std::string& file, const std::string& second_op) {
        std::vector<std::string> said;
        Outputs outputs({target(folder / file)}, {},
                        [&](std::string_view note) { said.emplace_back(note); });
        Point point = synthetic::point(1);
        for (const std::string& op : {std::string("load"), second_op})
            point.instructions.push_back({.array = "a",
                                          .op = op,
                                          .type = "f32",
                                          .index = {},
                                          .access = {},
                                          .predicted = {}});
        outputs.begin(synthetic::head());
        outputs.point(point);
        outputs.finish({});
        return said.size();
    };
    EXPECT_EQ(notes("a.csv", "load"), 1u);
    EXPECT_EQ(notes("b.csv", "store"), 0u);
    EXPECT_EQ(notes("c.json", "load"), 0u);
}

TEST(Outputs, hand_on_the_warnings_that_no_format_tells) {
    const TemporaryFolder folder;
    const ResultTail tail{Status::complete, {{"W-MISMATCH", "offset=1", "4 is not 5"}}};
    for (const bool has_json : {false, true}) {
        std::vector<OutputTarget> targets{target(folder / "a.csv")};
        if (has_json) targets.push_back(target(folder / "a.json"));
        std::vector<Warning> untold;
        Outputs outputs(targets, [&](const std::vector<Warning>& all) { untold = all; });
        outputs.begin({});
        outputs.finish(tail);
        ASSERT_EQ(untold.size(), has_json ? 0u : 1u);
        for (const Warning& warning : untold)
            EXPECT_EQ(describe(warning), "warning W-MISMATCH: offset=1: 4 is not 5");
    }
}

TEST(Outputs, several_formats_get_the_same_points) {
    const TemporaryFolder folder;
    Outputs outputs({target(folder / "a.json"), target(folder / "a.csv"),
                     target(folder / "a.jsonl"), target(folder / "a.txt")});
    write_all_points(outputs);
    EXPECT_THAT(folder.read("a.json"), StartsWith("{\"schema\":\"coalprof/1\""));
    EXPECT_THAT(folder.read("a.csv"), StartsWith("name,pattern,"));
    EXPECT_THAT(folder.read("a.jsonl"), HasSubstr("offset=0"));
    EXPECT_THAT(folder.read("a.txt"), StartsWith("offset"));
}

// What was not asked for is not told by its interval either; what limits a launch goes with times.
TEST(Outputs, tell_of_estimates_those_of_the_counters_that_were_asked_for) {
    const auto written = [](std::vector<Counter> counters) {
        const TemporaryFolder folder;
        Outputs outputs({target(folder / "a.json")});
        ResultHead head = synthetic::head();
        head.columns = std::move(counters);
        outputs.begin(head);
        outputs.point(synthetic::estimated_point(32));
        outputs.finish({});
        const std::string text = folder.read("a.json");
        return std::pair{text.find("133.5") != text.npos,  // the end of an interval
                         text.find("\"limits\":[\"") != text.npos};
    };
    EXPECT_EQ(written({}), std::pair(true, true));
    EXPECT_EQ(written({Counter::load_sectors}), std::pair(false, false));
    EXPECT_EQ(written({Counter::l2_read_sectors}), std::pair(true, false));
    EXPECT_EQ(written({Counter::duration_seconds}), std::pair(false, true));
}

TEST(Outputs, that_are_one_file_by_two_names_are_refused) {
    const TemporaryFolder folder;
    folder.write("a.json", "");
    std::filesystem::create_hard_link(folder / "a.json", folder / "b.json");
    const std::vector<OutputTarget> targets{target(folder / "a.json"), target(folder / "b.json")};
    EXPECT_THROW(Outputs{targets}, UsageError);
}

TEST(Outputs, a_bad_path_fails_before_anything_is_written) {
    const TemporaryFolder folder;
    const std::vector<OutputTarget> targets{target(folder / "good.json"),
                                            target(folder / "missing/bad.json")};
    EXPECT_THROW(Outputs{targets}, Error);
    EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(Outputs, two_outputs_never_share_a_place) {
    const TemporaryFolder folder;
    std::filesystem::create_symlink("a.json", folder / "b.json");
    EXPECT_THROW((Outputs{{target(folder / "a.json"), target(folder / "b.json")}}), UsageError);
    EXPECT_THROW((Outputs{{target("-", "json"), target("/dev/stdout", "csv")}}), UsageError);
    EXPECT_NO_THROW((Outputs{{target("/dev/null", "json"), target("/dev/null", "csv")}}));
}

TEST(Outputs, a_failing_output_does_not_cost_the_others) {
    const TemporaryFolder folder;
    Outputs outputs({target("/dev/full", "jsonl"), target(folder / "a.json")});
    try {
        write_all_points(outputs, 3);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_THAT(error.what(), HasSubstr("/dev/full: No space left on device"));
    }
    EXPECT_THAT(folder.read("a.json"), HasSubstr("offset=2"));
}

TEST(Outputs, every_failure_is_named) {
    const TemporaryFolder folder;
    Outputs outputs(
        {target("/dev/full", "jsonl"), target(folder / "a.json"), target("/dev/full", "csv")});
    try {
        write_all_points(outputs);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("device; cannot write /dev/full"));
    }
}

TEST(Outputs, with_no_output_left_the_run_ends) {
    Outputs outputs({target("/dev/full", "jsonl")});
    outputs.begin(synthetic::head());
    EXPECT_THROW(outputs.point(synthetic::point(0)), Error);
}

TEST(Outputs, that_are_not_finished_leave_nothing) {
    const TemporaryFolder folder;
    folder.write("a.json", "old");
    {
        Outputs outputs({target(folder / "a.json"), target(folder / "b.csv")});
        outputs.begin(synthetic::head());
        outputs.point(synthetic::point(0));
    }
    EXPECT_EQ(folder.read("a.json"), "old");
    EXPECT_THAT(folder.names(), ElementsAre("a.json"));
}

TEST(Outputs, of_an_interrupted_run_replace_nothing) {
    const TemporaryFolder folder;
    folder.write("a.json", "old");
    for (const int points : {0, 2}) {
        std::vector<std::string> notes;
        Outputs outputs({target(folder / "a.json"), target(folder / "b.csv")}, nullptr,
                        [&](std::string_view note) { notes.emplace_back(note); });
        outputs.begin(synthetic::head());
        for (int i = 0; i < points; ++i) outputs.point(synthetic::point(i));
        outputs.finish({Status::interrupted, {}});
        EXPECT_EQ(folder.read("a.json"), "old");
        if (points == 0) {
            EXPECT_THAT(folder.names(), ElementsAre("a.json"));
            EXPECT_THAT(notes, IsEmpty());
            continue;
        }
        EXPECT_THAT(folder.names(), ElementsAre("a.json", "a.partial.json", "b.partial.csv"));
        EXPECT_THAT(folder.read("a.partial.json"), HasSubstr("offset=1"));
        EXPECT_EQ(notes.size(), 2u);
    }
}

TEST(Outputs, are_never_what_is_read) {
    const TemporaryFolder folder;
    folder.write("in.json", "read");
    folder.write("x.partial.json", "read");
    std::filesystem::create_hard_link(folder / "in.json", folder / "other.json");
    const InputMemory inputs;
    for (const char* name : {"in.json", "x.partial.json", "/dev/null"})
        note_input(name[0] == '/' ? name : folder / name);
    for (const char* name : {"in.json", "other.json", "x.json"})
        EXPECT_THROW(Outputs({target(folder / name)}), UsageError) << name;
    EXPECT_THROW(OutputFile(folder / "other.json"), UsageError);
    EXPECT_NO_THROW(Outputs({target(folder / "new.json")}));
    EXPECT_NO_THROW(Outputs({target("/dev/null", "csv")}));
    EXPECT_EQ(folder.read("in.json"), "read");
}

TEST(Outputs, are_not_read_once_they_are_open) {
    const TemporaryFolder folder;
    folder.write("a.json", "old");
    const InputMemory inputs;
    {
        const OutputFile file(folder / "a.json");
        EXPECT_THROW(open_bytes(folder / "a.json"), UsageError);
        EXPECT_NO_THROW(open_own_bytes(folder / "a.json"));
    }
    EXPECT_NO_THROW(open_bytes(folder / "a.json"));
}

TEST(Outputs, show_only_the_listed_counters_in_every_format) {
    const TemporaryFolder folder;
    Outputs outputs({target(folder / "a.json"), target(folder / "a.txt", "table")});
    ResultHead head = synthetic::head();
    head.columns = {Counter::load_sectors};
    outputs.begin(head);
    const Point point = synthetic::point(0);
    ASSERT_TRUE(is_number(point.predicted[Counter::load_requests]));
    outputs.point(point);
    outputs.finish({});
    EXPECT_THAT(folder.read("a.json"), HasSubstr("load_sectors"));
    EXPECT_THAT(folder.read("a.json"), Not(HasSubstr("load_requests")));
    EXPECT_THAT(folder.read("a.txt"), HasSubstr("sectors"));
    EXPECT_THAT(folder.read("a.txt"), Not(HasSubstr("request")));
}

TEST(StandardOutput, gets_what_is_written) {
    const TemporaryFolder folder;
    const int fd = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    {
        const Redirected redirected(fd);
        Outputs outputs({target("-", "csv")});
        write_all_points(outputs);
    }
    ::close(fd);
    EXPECT_THAT(folder.read("out"), StartsWith("name,pattern,"));
}

TEST(StandardOutput, whose_reader_left_ends_a_run_that_nobody_else_reads) {
    const int fd = pipe_without_reader();
    const Redirected redirected(fd);
    ::close(fd);
    Outputs outputs({target("-", "jsonl")});
    outputs.begin(synthetic::head());
    EXPECT_THROW(outputs.point(synthetic::point(0)), ReaderGone);
}

TEST(StandardOutput, whose_reader_left_does_not_cost_a_file) {
    const TemporaryFolder folder;
    {
        const int fd = pipe_without_reader();
        const Redirected redirected(fd);
        ::close(fd);
        Outputs outputs({target("-", "jsonl"), target(folder / "a.json")});
        EXPECT_NO_THROW(write_all_points(outputs, 2));
    }
    EXPECT_THAT(folder.read("a.json"), HasSubstr("offset=1"));
}

TEST(StandardOutput, that_is_full_is_an_error) {
    const int fd = ::open("/dev/full", O_WRONLY);
    const Redirected redirected(fd);
    ::close(fd);
    Outputs outputs({target("-", "json")});
    try {
        write_all_points(outputs);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_THAT(error.what(), HasSubstr("standard output: No space left on device"));
    }
}

TEST(StandardOutput, that_is_closed_fails_at_once) {
    const int fd = ::open("/dev/null", O_RDONLY);  // as shells and we leave a closed one
    const Redirected redirected(fd);
    ::close(fd);
    const std::vector<OutputTarget> targets{target("-", "json")};
    EXPECT_THROW(Outputs{targets}, Error);
}

TEST(StandardOutput, that_is_not_there_fails_at_once) {
    const int kept = ::dup(STDOUT_FILENO);
    ::close(STDOUT_FILENO);
    const std::vector<OutputTarget> targets{target("-", "json")};
    EXPECT_THROW(Outputs{targets}, Error);
    ::dup2(kept, STDOUT_FILENO);
    ::close(kept);
}

}  // namespace
}  // namespace coalprof
