// What pictures are made of.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/text/error.h"
#include "core/write/columns.h"
#include "core/write/file_descriptor.h"
#include "core/write/synthetic.h"
#include "core/write/table_layout.h"
#include "core/write/table_notes.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

TEST(ResultColumns, have_both_ends_of_a_measured_time) {
    ResultGatherer gatherer;
    gatherer.begin(synthetic::head());
    gatherer.point(synthetic::point(1));
    gatherer.finish({});
    const ResultColumn* time = gatherer.results().front().find(Counter::duration_seconds, true);
    ASSERT_NE(time, nullptr);
    const Timing timing = *synthetic::point(1).timing;
    EXPECT_EQ(time->low, std::vector{timing.low_seconds});
    EXPECT_EQ(time->high, std::vector{timing.high_seconds});
}

TEST(ResultColumns, are_of_no_more_points_than_a_picture_can_show) {
    ResultGatherer gatherer;
    gatherer.begin({});
    for (std::size_t i = 0; i < most_gathered_points; ++i) gatherer.point({});
    EXPECT_THROW(gatherer.point({}), Error);
}

TEST(TableCell, of_a_parameter_is_its_value) {
    EXPECT_EQ(value_text(0.25, 20, true), "0.25");
    EXPECT_EQ(value_text(true, 20, true), "yes");
    EXPECT_EQ(value_text(std::uint64_t{7}, 20, true), "7");
}

TEST(FindingText, says_what_a_fix_saves_and_which_pattern_shows_it_where_that_is_known) {
    LineFinding finding{.point = "k", .cause = {}, .text = "Bad.", .fix = "Better.", .like = {}};
    EXPECT_EQ(finding_text(finding, true), "k: Bad. Fix: Better.");
    finding.saves_seconds = 2e-6;
    finding.like = "stride";
    const std::string all = finding_text(finding, true);
    EXPECT_NE(all.find("2.00 us"), all.npos) << all;
    EXPECT_EQ(finding_command(finding), "coalprof explain stride");
    finding.saves_interval_seconds = {{1e-6, 2.5e-6}};
    const std::string between = finding_text(finding, true);
    EXPECT_NE(between.find("1.00"), between.npos) << between;
    EXPECT_NE(between.find("2.50"), between.npos) << between;
}

}  // namespace
}  // namespace coalprof
