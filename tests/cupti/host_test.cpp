#include "cupti/host.h"

#include <gmock/gmock.h>

#include "cupti/real_cupti.h"

namespace coalprof {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

using Host = RealCupti;

TEST_F(Host, knows_the_chip_of_the_h200_and_at_least_29_more) {
    const auto chips = supported_chips(api());
    EXPECT_GE(chips.size(), 30u);
    EXPECT_THAT(chips, Contains("GH100"));
}

TEST_F(Host, refuses_a_chip_that_does_not_exist) {
    try {
        const ChipMetrics chip(api(), "GH999");
        FAIL() << "no exception";
    } catch (const CountersError& error) {
        EXPECT_THAT(error.what(), HasSubstr("cannot look up the metrics of GH999"));
        EXPECT_THAT(error.what(), HasSubstr("CUPTI_ERROR_INVALID_CHIP_NAME"));
    }
}

TEST_F(Host, says_what_is_wrong_with_a_metric) {
    const ChipMetrics chip(api(), "GH100");
    EXPECT_EQ(chip.problem_with("gpu__time_duration.sum"), std::nullopt);
    EXPECT_EQ(chip.problem_with("l1tex__t_sektors.sum"),
              "GH100 has no metric l1tex__t_sektors.sum");
    EXPECT_THAT(*chip.problem_with("gpu__time_duration"), HasSubstr("needs a rollup"));
    EXPECT_THAT(*chip.problem_with("gpu__time_duration.median"), HasSubstr("CUPTI_ERROR"));
    EXPECT_TRUE(chip.problem_with(""));
    EXPECT_TRUE(chip.problem_with("."));
}

TEST_F(Host, names_the_one_metric_that_spoils_a_set) {
    try {
        const MetricConfig config(api(), "GH100", {"gpu__time_duration.sum", "made_up.sum"});
        FAIL() << "no exception";
    } catch (const CountersError& error) {
        EXPECT_STREQ(error.what(), "cannot read counters: GH100 has no metric made_up.sum");
    }
}

// Requests by their own name and sectors are known to exclude each other (CUPTI 13.0, GH100).
TEST_F(Host, counts_the_passes_of_a_set) {
    const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
    const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
    EXPECT_EQ(MetricConfig(api(), "GH100", {sectors}).passes(), 1u);
    EXPECT_EQ(MetricConfig(api(), "GH100", {sectors, requests}).passes(), 2u);
}

TEST_F(Host, does_not_mix_the_metrics_of_two_sets) {
    const MetricConfig one(api(), "GH100", {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"});
    const MetricConfig two(api(), "GH100", {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"});
    EXPECT_EQ(two.passes(), 1u);
}

}  // namespace
}  // namespace coalprof
