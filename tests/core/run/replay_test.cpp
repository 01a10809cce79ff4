// Which files are of the run that looks for its points. What replaying brings back is tested
// with runs: tests/cli/long_sweeps_test.py.
#include <gtest/gtest.h>

#include "core/run/run_points.h"
#include "core/write/synthetic.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

// A file with one point of `left`.
bool is_own(const ResultHead& left, const ResultHead& head) {
    const TemporaryFolder folder;
    folder.write("part", synthetic::written(find_format("jsonl"), left, {synthetic::point(0)}));
    return why_of_another(folder / "part", head, "it cannot be read").empty();
}

// Where the answer goes, how it is told, and how many threads give it, is no other question.
TEST(EarlierPoints, are_of_the_same_question_however_it_is_answered) {
    const ResultHead head = synthetic::head();
    for (const auto& [words, is_same] :
         std::vector<std::pair<std::vector<std::string>, bool>>{{{"-v"}, true},
                                                                {{"-q"}, true},
                                                                {{"--resume"}, true},
                                                                {{"--jsonl"}, true},
                                                                {{"-o", "other.json"}, true},
                                                                {{"--output=other.json"}, true},
                                                                {{"--sort", "load_sectors"}, true},
                                                                {{"--best", "load_sectors"}, true},
                                                                {{"--threads=2"}, true},
                                                                {{"--threads", "2"}, true},
                                                                {{"--color", "never"}, true},
                                                                {{"--dlcm", "cg"}, false},
                                                                {{"--dlcm=cg"}, false},
                                                                {{"--repeat", "3"}, false}}) {
        ResultHead left = head;
        left.argv.insert(left.argv.end(), words.begin(), words.end());
        EXPECT_EQ(is_own(left, head), is_same) << words.front();
        EXPECT_EQ(is_own(head, left), is_same) << words.front();
    }
}

// The same words, which a settings file, another GPU or a launcher gave another meaning.
TEST(EarlierPoints, of_another_sweep_or_shard_are_others) {
    const ResultHead head = synthetic::head();
    EXPECT_TRUE(is_own(head, head));
    ResultHead other = head;
    other.sweep.type = "f64";
    EXPECT_FALSE(is_own(other, head));
    other = head;
    other.machine.name = "a100";
    EXPECT_FALSE(is_own(other, head));
    ResultHead second = head;
    second.sweep.more = {{"shard", "2/3"}, {"shard_of_points", 33}};
    other = head;
    other.sweep.more = {{"shard", "3/3"}, {"shard_of_points", 33}};
    EXPECT_TRUE(is_own(second, second));
    EXPECT_FALSE(is_own(other, second));
    EXPECT_FALSE(is_own(head, second));
    EXPECT_FALSE(is_own(second, head));
}

TEST(EarlierPoints, cannot_be_read_from_other_files) {
    const TemporaryFolder folder;
    folder.write("none", "no result\n");
    EXPECT_EQ(why_of_another(folder / "none", synthetic::head(), "no"), "no");
}

}  // namespace
}  // namespace coalprof
