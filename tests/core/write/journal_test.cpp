// What becomes of a journal when its run ends. What it brings back is tested with runs:
// tests/core/run/side_by_side_test.cpp, tests/cli/long_sweeps_test.py.
#include "core/write/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"
#include "core/write/collecting_sink.h"
#include "core/write/synthetic.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct RefusingSink : ResultSink {
    explicit RefusingSink(ExitCode with) : code(with) {}
    void begin(const ResultHead&) override {}
    void point(const Point&) override { throw Error("cannot go on", code); }
    void finish(const ResultTail&) override {}
    ExitCode code;
};

// Points are kept for a later run where only the output is at fault.
TEST(Journal, stays_when_the_output_fails_and_goes_with_a_run_that_makes_no_sense) {
    for (const auto& [code, is_kept] :
         {std::pair{ExitCode::output, true}, {ExitCode::usage, false}}) {
        const TemporaryFolder folder;
        std::vector<std::string> said;
        RefusingSink sink(code);
        Journal journal(folder / "a.partial.jsonl", sink,
                        [&](std::string_view note) { said.emplace_back(note); });
        journal.begin(synthetic::head());
        journal.keep(synthetic::point(0), false);
        EXPECT_THAT(folder.names(), SizeIs(1));
        EXPECT_THROW(journal.point(synthetic::point(0)), Error);
        EXPECT_THAT(folder.names(), SizeIs(is_kept ? 1 : 0));
        EXPECT_THAT(said, SizeIs(is_kept ? 1 : 0));
    }
}

TEST(Journal, says_what_it_writes_over) {
    const TemporaryFolder folder;
    folder.write("a.partial.jsonl", "of an earlier run\n");
    std::vector<std::string> said;
    RefusingSink sink(ExitCode::done);
    Journal journal(folder / "a.partial.jsonl", sink,
                    [&](std::string_view note) { said.emplace_back(note); });
    journal.begin(synthetic::head());
    EXPECT_THAT(said, IsEmpty());
    journal.keep(synthetic::point(0), false);
    ASSERT_THAT(said, SizeIs(1));
    EXPECT_THAT(said[0], HasSubstr("held points of an earlier run"));
    EXPECT_THAT(folder.read("a.partial.jsonl"), Not(HasSubstr("of an earlier run")));
}

}  // namespace
}  // namespace coalprof
