// The metrics of machine code, asked of this machine's libcupti (no GPU needed).
#include <gtest/gtest.h>

#include <string>

#include "core/program/machine_code.h"
#include "cupti/attach/run_metrics.h"
#include "cupti/host.h"
#include "cupti/real_cupti.h"

namespace coalprof {
namespace {

using SassMetrics = RealCupti;

// Turing has no cp.async, chips before Hopper have no bulk copies.
TEST_F(SassMetrics, of_machine_code_are_those_that_chips_have) {
    for (const std::string& chip : supported_chips(api())) {
        if (is_listed_only(chip) || chip == "GV100") continue;
        for (const std::string_view metric : machine_code_metrics()) {
            const std::string name(metric);
            auto params = cupti_params<CUpti_SassMetrics_GetProperties_Params>(
                CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE);
            params.pChipName = chip.c_str();
            params.pMetricName = name.c_str();
            const bool has = api().sass_get_properties(&params) == CUPTI_SUCCESS;
            const bool is_turing = chip.starts_with("TU");
            const bool is_older = is_turing || chip.starts_with("GA") || chip.starts_with("AD");
            const bool may_lack = (is_turing && name.ends_with("_ldgsts")) ||
                                  (is_older && name.find("_tma_") != name.npos);
            EXPECT_EQ(has, !may_lack) << chip << " " << name;
        }
    }
}

// `run` replays no launch, so what it counts must fit one pass of each chip that it supports.
TEST_F(SassMetrics, of_a_run_take_one_pass) {
    for (const std::string& chip : supported_chips(api())) {
        if (is_listed_only(chip) || chip.starts_with("GV")) continue;
        const ChipMetrics metrics(api(), chip);
        for (const RunPass pass : {RunPass::traffic, RunPass::use}) {
            const RunMetrics chosen(pass, chip,
                                    [&](std::string_view metric) { return metrics.has(metric); });
            EXPECT_EQ(MetricConfig(api(), chip, chosen.names()).passes(), 1u) << chip;
        }
    }
}

}  // namespace
}  // namespace coalprof
