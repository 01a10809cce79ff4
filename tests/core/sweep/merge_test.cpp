// What a merged result says of its shards. Bytes, missing shards and sentences are tested on the
// command line: tests/cli/long_sweeps_test.py.
#include "core/sweep/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"
#include "core/write/formats.h"
#include "core/write/output_file.h"
#include "core/write/synthetic.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

class Merged : public ResultSink {
 public:
    void begin(const ResultHead& its_head) override { head = its_head; }
    void point(const Point& point) override { names.push_back(point.name); }
    void finish(const ResultTail& its_tail) override { tail = its_tail; }
    ResultHead head;
    std::vector<std::string> names;
    ResultTail tail;
};

// Two shards of two points, a point each.
class Merge : public ::testing::Test {
 protected:
    Merge() {
        for (std::size_t i = 0; i < 2; ++i) {
            heads[i] = synthetic::head();
            describe(i, 2, 2);
        }
    }
    void describe(std::size_t shard, int count, std::int64_t points) {
        heads[shard].sweep.more = {{"shard", fmt::format("{}/{}", shard + 1, count)},
                                   {"shard_of_points", points}};
    }
    std::string file(std::size_t shard) {
        const std::string name = fmt::format("s{}.json", shard);
        OutputFile bytes(folder / name);
        const auto json = find_format("json").make(bytes, {});
        json->begin(heads[shard]);
        json->point(synthetic::point(static_cast<std::int64_t>(shard)));
        json->finish(tails[shard]);
        bytes.commit();
        return folder / name;
    }
    Merged merged() {
        const std::vector<std::string> paths{file(1), file(0)};
        Merged sink;
        ShardMerge(paths, false).write(sink);
        return sink;
    }
    static std::vector<std::string> codes(const Merged& sink) {
        std::vector<std::string> codes;
        for (const Warning& warning : sink.tail.warnings)
            codes.push_back(warning.code + warning.point);
        return codes;
    }

    const TemporaryFolder folder;
    ResultHead heads[2];
    ResultTail tails[2];
};

TEST_F(Merge, is_as_old_as_the_first_shard_and_took_the_most_passes) {
    heads[0].time_utc = "2026-11-21T05:20:01Z";
    heads[1].time_utc = "2026-11-21T05:20:00Z";
    heads[0].passes = 3;
    heads[1].passes = 2;
    const Merged sink = merged();
    EXPECT_EQ(sink.head.time_utc, "2026-11-21T05:20:00Z");
    EXPECT_EQ(sink.head.passes, 3u);
    EXPECT_THAT(sink.names, ElementsAre("offset=0", "offset=1"));
}

TEST_F(Merge, of_one_gpu_each_keeps_what_is_true_of_all) {
    heads[0].device->uuid = "a";
    heads[1].device->uuid = "b";
    EXPECT_EQ(merged().head.device->uuid, "");
    EXPECT_EQ(merged().head.device->name, heads[0].device->name);
}

TEST_F(Merge, is_the_command_without_the_shard) {
    heads[0].argv = {"coalprof", "offset", "--shard", "1/2", "--resume", "-q"};
    EXPECT_THAT(merged().head.argv, ElementsAre("coalprof", "offset", "-q"));
    heads[0].argv = {"coalprof", "offset", "--shard=1/2", "-q"};
    EXPECT_THAT(merged().head.argv, ElementsAre("coalprof", "offset", "-q"));
    EXPECT_FALSE(find_value(merged().head.sweep.more, "shard"));
}

TEST_F(Merge, says_what_every_shard_says_once_and_what_is_of_points_each_time) {
    for (std::size_t i = 0; i < 2; ++i)
        tails[i].warnings = {{"W-RUN", {}, "of the run"},
                             {"W-POINT", fmt::format("offset={}", i), "of a point"}};
    EXPECT_THAT(codes(merged()), ElementsAre("W-RUN", "W-POINToffset=0", "W-POINToffset=1"));
}

// Of a point is another warning than of the run, whatever both say.
TEST_F(Merge, keeps_a_warning_of_the_run_behind_the_same_of_a_point) {
    tails[0].warnings = {{"W-A", "offset=0", "text"}};
    tails[1].warnings = {{"W-A", {}, "text"}};
    EXPECT_THAT(codes(merged()), ElementsAre("W-Aoffset=0", "W-A"));
}

TEST_F(Merge, is_no_more_whole_than_the_least_whole_shard) {
    tails[0].status = Status::partial;
    EXPECT_EQ(merged().tail.status, Status::partial);
    tails[1].status = Status::interrupted;
    EXPECT_EQ(merged().tail.status, Status::interrupted);
    tails[0].status = Status::interrupted;
    tails[1].status = Status::complete;
    EXPECT_EQ(merged().tail.status, Status::interrupted);
}

TEST_F(Merge, refuses_shards_of_another_count_or_of_as_many_other_points) {
    const auto merges = [&] {
        const std::vector<std::string> paths{file(0), file(1)};
        try {
            ShardMerge merge(paths, true);
            return true;
        } catch (const UsageError&) {
            return false;
        }
    };
    EXPECT_TRUE(merges());
    describe(1, 3, 2);
    EXPECT_FALSE(merges());
    describe(1, 2, 3);
    EXPECT_FALSE(merges());
}

TEST_F(Merge, misses_the_first_the_last_and_those_between) {
    for (const auto& [count, there, is_whole] :
         {std::tuple{1, 0, true}, {2, 0, false}, {2, 1, false}}) {
        const auto shard = static_cast<std::size_t>(there);
        describe(shard, count, count);
        const std::vector<std::string> paths{file(shard)};
        if (is_whole)
            EXPECT_NO_THROW(ShardMerge(paths, false));
        else
            EXPECT_THROW(ShardMerge(paths, false), UsageError) << count << ' ' << there;
    }
    Merged sink;
    describe(0, 2, 2);
    EXPECT_EQ(ShardMerge({file(0)}, true).write(sink), Status::interrupted);
}

TEST_F(Merge, refuses_a_shard_behind_the_last) {
    heads[0].sweep.more = {{"shard", "2/1"}, {"shard_of_points", 2}};
    EXPECT_THROW(ShardMerge({file(0)}, true), UsageError);
}

}  // namespace
}  // namespace coalprof
