// What is asked of the driver, and of CUPTI in a program that is counted.
#include "cupti/driver.h"

#include <gmock/gmock.h>

#include "cupti/attach/run_metrics.h"
#include "cupti/cupti_api.h"

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

// 1 for metrics with the first word in their names, 20 for those with the second, else 300.
Readings readings_where(const RunMetrics& metrics, std::string_view one, std::string_view twenty) {
    std::vector<double> values;
    for (const std::string& name : metrics.names())
        values.push_back(name.find(one) != name.npos      ? 1
                         : name.find(twenty) != name.npos ? 20
                                                          : 300);
    return metrics.readings(values, false);
}

// The ratio of bytes and sectors is of one launch. In patched code copies by cp.async are no loads.
TEST(RunMetrics, of_use_have_the_sectors_and_bytes_of_loads_copies_and_stores) {
    const RunMetrics metrics(RunPass::use, "GH100", [](std::string_view) { return true; });
    EXPECT_THAT(metrics.names(), testing::IsSupersetOf(
                                     {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                      "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum"}));
    const Readings readings = readings_where(metrics, "op_ld.", "op_ldgsts.");
    EXPECT_EQ(readings[Counter::load_unique_bytes], Reading{std::uint64_t{21}});
    EXPECT_EQ(readings[Counter::load_sectors], Reading{std::uint64_t{21}});
    EXPECT_EQ(readings[Counter::store_sectors], Reading{std::uint64_t{300}});
}

// Opcodes of global stores leave out those to generic addresses.
TEST(RunMetrics, of_traffic_count_stores_to_generic_addresses) {
    const RunMetrics metrics(RunPass::traffic, "GH100", [](std::string_view) { return true; });
    const Readings readings = readings_where(metrics, "op_global_st_pred", "op_generic_st_pred");
    EXPECT_EQ(readings[Counter::store_requests], Reading{std::uint64_t{21}});
}

// A request asks for a sector of each lane at most: the 33rd is of a load that its opcode hides.
TEST(RunMetrics, of_traffic_have_requests_of_at_most_32_sectors) {
    const RunMetrics metrics(RunPass::traffic, "GH100", [](std::string_view) { return true; });
    for (const double sectors : {32, 33}) {
        std::vector<double> values;
        for (const std::string& name : metrics.names())
            values.push_back(name.ends_with("global_op_ld.sum") ? sectors
                             : name.find("ldgsts") != name.npos ? 0
                                                                : 1);
        EXPECT_EQ(is_number(metrics.readings(values, false)[Counter::load_requests]),
                  sectors == 32);
    }
}

}  // namespace
}  // namespace coalprof
