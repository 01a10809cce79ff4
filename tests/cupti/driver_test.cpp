// What is asked of the driver, and of CUPTI in a program that is counted.
#include "cupti/driver.h"

#include <gmock/gmock.h>

#include "cupti/attach/run_metrics.h"
#include "cupti/failures.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::ThrowsMessage;

template <CUresult answer>
CounterDriver driver_that_answers() {
    CounterDriver driver;
    driver.init = [](unsigned) -> CUresult { return answer; };
    return driver;
}

TEST(CounterDriver, that_does_not_start_says_why) {
    EXPECT_THAT([] { open_device(driver_that_answers<CUDA_ERROR_NO_DEVICE>(), 0); },
                ThrowsMessage<CountersError>(HasSubstr("no NVIDIA GPU")));
    EXPECT_THAT([] { open_device(driver_that_answers<CUDA_ERROR_STUB_LIBRARY>(), 0); },
                ThrowsMessage<CountersError>(HasSubstr("LD_LIBRARY_PATH")));
    EXPECT_THAT([] { open_device(driver_that_answers<CUDA_ERROR_UNKNOWN>(), 0); },
                ThrowsMessage<CountersError>(HasSubstr("999")));
}

// The ratio of bytes and sectors is of one launch.
TEST(RunMetrics, of_use_have_the_sectors_of_loads_and_of_stores) {
    const RunMetrics metrics(RunPass::use, "GH100", [](std::string_view) { return true; });
    EXPECT_THAT(metrics.names(),
                IsSupersetOf({"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
                              "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum"}));
}

}  // namespace
}  // namespace coalprof
