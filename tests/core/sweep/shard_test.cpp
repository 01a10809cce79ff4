// How points are divided, and which part an environment says. Refusals are tested on the command
// line: tests/cli/long_sweeps_test.py.
#include "core/sweep/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/text/error.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

TEST(Shard, parts_follow_each_other_cover_all_and_differ_by_a_point) {
    for (std::uint64_t points = 0; points < 40; ++points)
        for (std::uint64_t count = 1; count < 13; ++count) {
            std::uint64_t next = 0;
            for (std::uint64_t index = 1; index <= count; ++index) {
                const Shard shard{index, count};
                ASSERT_EQ(shard.first(points), next);
                next = shard.end(points);
                const std::uint64_t size = next - shard.first(points);
                ASSERT_GE(size, points / count) << points << ' ' << shard.text();
                ASSERT_LE(size, (points + count - 1) / count) << points << ' ' << shard.text();
            }
            ASSERT_EQ(next, points);
        }
}

// Which of the fair splits it is must stay: a task that is run again by a later version fills the
// gap that the others left.
TEST(Shard, gives_the_points_left_over_to_the_later_parts) {
    std::vector<std::uint64_t> firsts;
    for (std::uint64_t index = 1; index <= 4; ++index) firsts.push_back(Shard{index, 3}.first(32));
    EXPECT_THAT(firsts, ElementsAre(0, 10, 21, 32));
}

TEST(Shard, of_more_points_than_a_product_in_64_bits_holds_is_right) {
    const std::uint64_t points = 1ull << 62;
    EXPECT_EQ((Shard{2, 2}.first(points)), points / 2);
    EXPECT_EQ((Shard{1'000'000, 1'000'000}.end(points)), points);
    EXPECT_EQ((Shard{500'001, 1'000'000}.first(points)), points / 2);
}

using Variables = std::map<std::string, std::string>;

std::string shard_in(const Variables& variables, const char* text = "auto") {
    try {
        const auto get = [&](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        };
        return parse_shard(text, get).text();
    } catch (const UsageError&) {
        return "refused";
    }
}

// --array=1-10:3 has tasks 1, 4, 7 and 10 (sbatch's manual). With gaps it may be a part of another
// array, whose failed tasks are submitted again; a typed count says what the whole one has.
TEST(Shard, of_an_array_with_gaps_is_known_by_a_typed_count_alone) {
    Variables array{{"SLURM_ARRAY_TASK_COUNT", "4"},
                    {"SLURM_ARRAY_TASK_MIN", "1"},
                    {"SLURM_ARRAY_TASK_MAX", "10"},
                    {"SLURM_ARRAY_TASK_STEP", "3"},
                    {"SLURM_ARRAY_TASK_ID", "4"}};
    EXPECT_EQ(shard_in(array), "refused");
    EXPECT_EQ(shard_in(array, "auto/10"), "4/10");
    EXPECT_EQ(shard_in(array, "auto/9"), "refused");  // there is a task 10
}

// An array of 3 tasks, each of which starts 2 processes: task 2 has the third and the fourth part.
TEST(Shard, of_processes_of_an_array_counts_those_of_the_tasks_before) {
    Variables both{{"SLURM_ARRAY_TASK_COUNT", "3"}, {"SLURM_ARRAY_TASK_MIN", "1"},
                   {"SLURM_ARRAY_TASK_MAX", "3"},   {"SLURM_ARRAY_TASK_ID", "2"},
                   {"SLURM_PROCID", "1"},           {"SLURM_STEP_NUM_TASKS", "2"}};
    EXPECT_EQ(shard_in(both), "4/6");
    both["SLURM_PROCID"] = "0";
    EXPECT_EQ(shard_in(both), "3/6");
    EXPECT_EQ(shard_in(both, "auto/3"), "3/6");  // typed is the number of tasks
    both["SLURM_PROCID"] = "2";
    EXPECT_EQ(shard_in(both), "refused");
}

TEST(Shard, of_a_rank_is_below_the_number_of_ranks) {
    EXPECT_EQ(shard_in({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}), "4/4");
    EXPECT_EQ(shard_in({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}), "refused");
    EXPECT_EQ(shard_in({{"PMI_RANK", "3"}}, "auto/4"), "4/4");
    EXPECT_EQ(shard_in({{"PMI_RANK", "4"}}, "auto/4"), "refused");
    EXPECT_EQ(shard_in({{"PMI_RANK", "3x"}, {"PMI_SIZE", "4"}}), "refused");
}

// The script of a job has a SLURM_PROCID of its own, whatever count is typed.
TEST(Shard, of_a_jobs_script_is_not_known) {
    EXPECT_EQ(shard_in({{"SLURM_PROCID", "0"}}, "auto/4"), "refused");
    EXPECT_EQ(shard_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}}, "auto/4"), "1/4");
}

TEST(Shard, may_be_one_of_a_million) {
    EXPECT_EQ(shard_in({}, "1000000/1000000"), "1000000/1000000");
    EXPECT_EQ(shard_in({}, "1/1000001"), "refused");
    EXPECT_EQ(shard_in({}, "0/4"), "refused");
    EXPECT_EQ(shard_in({}, "5/4"), "refused");
}

}  // namespace
}  // namespace coalprof
