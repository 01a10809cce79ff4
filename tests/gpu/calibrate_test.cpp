// `coalprof calibrate` on a real GPU: every rate of the simulation that it measures is there.
#include <gmock/gmock.h>

#include "core/calibrate/calibration.h"
#include "gpu/on_gpu.h"

namespace coalprof {
namespace {

using CalibrateOnGpu = GpuTest;

TEST_F(CalibrateOnGpu, measures_the_rates_of_the_simulation) {
    if (launcher().device().major < 7) GTEST_SKIP() << "time is modelled from 7.0 on";
    const Calibration found = calibrate(launcher());
    EXPECT_THAT(found.failed, testing::IsEmpty());
    std::vector<std::string_view> kept;
    for (const FoundSimRate& rate : found.rates)
        if (!rate.is_measured) kept.push_back(rate.info.key);
    EXPECT_THAT(
        kept, testing::ElementsAre("sim_start_seconds", "flush_seconds", "sim_first_block_latency",
                                   "sim_l1_pass", "sim_shared_pass", "sim_crowd", "sim_write_crowd",
                                   "sim_l1_queue", "sim_l2_queue", "sim_join_cycles",
                                   "sim_between_schedulers", "sim_l2_share", "sim_dirty_share",
                                   "sim_partial_share"));
}

}  // namespace
}  // namespace coalprof
