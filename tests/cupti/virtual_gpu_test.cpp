#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/preflight.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

// What the fake NVML answers, and how often it was started and ended.
struct Script {
    int init = 0, device = 0, ask = 0;
    int mode = 0;
    std::string uuid = {};
    int starts = 0, ends = 0;
};
Script script;

NvmlApi fake_nvml() {
    return {.init =
                [] {
                    ++script.starts;
                    return script.init;
                },
            .shutdown =
                [] {
                    ++script.ends;
                    return 0;
                },
            .device_by_uuid =
                [](const char* uuid, void** device) {
                    script.uuid = uuid;
                    *device = &script;
                    return script.device;
                },
            .virtualization_mode =
                [](void*, int* mode) {
                    *mode = script.mode;
                    return script.ask;
                }};
}

Finding answer(const Script& now, const NvmlApi& nvml = fake_nvml()) {
    script = now;
    PreflightFacts facts;
    facts.device_uuid = "GPU-1234";
    return find_virtual_gpu(facts, nvml);
}

// The numbers are those of nvmlGpuVirtualizationMode_t.
TEST(VirtualGpu, is_told_from_a_whole_one) {
    EXPECT_EQ(answer({.mode = 0}).state, FindingState::ok);
    EXPECT_EQ(script.uuid, "GPU-1234");
    EXPECT_EQ(answer({.mode = 1}).state, FindingState::ok);
    const Finding shared = answer({.mode = 2});
    EXPECT_EQ(shared.state, FindingState::unknown);
    EXPECT_THAT(shared.detail, HasSubstr("a virtual GPU: counters"));
    EXPECT_THAT(shared.remedy, HasSubstr("enable_profiling"));
    EXPECT_THAT(answer({.mode = 3}).detail, HasSubstr("host of virtual GPUs"));
    EXPECT_THAT(answer({.mode = 9}).detail, HasSubstr("mode 9"));
}

TEST(VirtualGpu, is_not_guessed_where_nobody_answers) {
    EXPECT_EQ(answer({}, {}).state, FindingState::unknown);
    for (const Script& failing : {Script{.init = 9}, Script{.device = 6}, Script{.ask = 3}}) {
        EXPECT_EQ(answer(failing).state, FindingState::unknown);
        EXPECT_EQ(script.ends, failing.init == 0 ? 1 : 0) << "what was started is ended";
    }
    EXPECT_THAT(find_virtual_gpu({}, fake_nvml()).detail, HasSubstr("no device"));
}

}  // namespace
}  // namespace coalprof
