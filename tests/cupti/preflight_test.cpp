#include "cupti/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/planted_folder.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

// CapEff of /proc/self/status: bit 21 is CAP_SYS_ADMIN (0x200000), bit 38 CAP_PERFMON
// (0x4000000000).
constexpr const char* sys_admin = "Name:\tx\nCapEff:\t0000000000200000\nSeccomp:\t0\n";
constexpr const char* perfmon = "CapEff:\t0000004000000000\n";
constexpr const char* nobody = "CapEff:\t0000000000000000\n";

class Preflight : public ::testing::Test {
 protected:
    PreflightFacts facts() const {
        PreflightFacts all;
        all.root = folder_.root();
        return all;
    }
    void plant(const std::string& file, const std::string& text = "") { folder_.plant(file, text); }
    void restrict_counters(const std::string& to) {
        plant("proc/driver/nvidia/params",
              "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: " + to + "\nRmMsg: \"\"\n");
    }
    void plant_driver(const std::string& version) {
        plant("proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + version +
                  "  Mon Oct  6 09:12:15 UTC 2025\nGCC version: gcc 12.2.0\n");
    }

 private:
    PlantedFolder folder_;
};

TEST_F(Preflight, finds_counters_open_to_everyone) {
    restrict_counters("0");
    plant("proc/self/status", nobody);
    EXPECT_EQ(find_permission(facts()).state, FindingState::ok);
}

TEST_F(Preflight, finds_counters_closed_to_this_user_and_says_what_to_do) {
    restrict_counters("1");
    plant("proc/self/status", nobody);
    const Finding finding = find_permission(facts());
    EXPECT_EQ(finding.state, FindingState::problem);
    EXPECT_THAT(finding.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    EXPECT_THAT(finding.remedy, HasSubstr("sudo"));
}

TEST_F(Preflight, tells_a_user_in_a_container_how_to_start_it) {
    restrict_counters("1");
    plant("proc/self/status", nobody);
    plant(".dockerenv");
    EXPECT_THAT(find_permission(facts()).remedy, HasSubstr("--cap-add=SYS_ADMIN"));
}

TEST_F(Preflight, accepts_an_administrator) {
    restrict_counters("1");
    plant("proc/self/status", sys_admin);
    EXPECT_EQ(find_permission(facts()).state, FindingState::ok);
}

TEST_F(Preflight, accepts_the_performance_capability_from_driver_565_on) {
    restrict_counters("1");
    plant("proc/self/status", perfmon);
    plant_driver("560.35.03");
    EXPECT_EQ(find_permission(facts()).state, FindingState::problem);
    plant_driver("580.159.03");
    EXPECT_EQ(find_permission(facts()).state, FindingState::ok);
}

TEST_F(Preflight, reads_the_version_of_the_open_driver_too) {
    restrict_counters("1");
    plant("proc/self/status", perfmon);
    plant("proc/driver/nvidia/version",
          "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.57.01  Release Build\n");
    EXPECT_EQ(find_permission(facts()).state, FindingState::ok);
}

TEST_F(Preflight, does_not_guess_a_permission_that_it_cannot_see) {
    EXPECT_EQ(find_permission(facts()).state, FindingState::unknown);
    restrict_counters("1");
    plant("proc/self/status", "CapEff:\tnonsense\n");
    EXPECT_EQ(find_permission(facts()).state, FindingState::unknown);
}

TEST_F(Preflight, sees_containers_by_any_of_their_signs) {
    EXPECT_EQ(find_container(facts()).detail, "not in a container");
    PreflightFacts named = facts();
    named.environment["container"] = "podman";
    EXPECT_THAT(find_container(named).detail, HasSubstr("podman"));
    plant("proc/1/cgroup", "0::/kubepods/besteffort/pod1\n");
    EXPECT_THAT(find_container(facts()).detail, HasSubstr("kubepods"));
}

TEST_F(Preflight, sees_a_profiler_in_this_process) {
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"CUDA_INJECTION64_PATH", "/opt/nsys/libToolsInjection64.so"},
             {"NSYS_PROFILING_SESSION_ID", "12"},
             {"LD_PRELOAD", "/opt/ncu/libTreeLauncherTargetInjection.so"}}) {
        PreflightFacts injected = facts();
        injected.environment[name] = value;
        const Finding finding = find_other_profilers(injected);
        EXPECT_EQ(finding.state, FindingState::problem) << name;
        EXPECT_THAT(finding.detail, HasSubstr(name));
    }
    PreflightFacts harmless = facts();
    harmless.environment["LD_PRELOAD"] = "/usr/lib/libjemalloc.so";
    EXPECT_EQ(find_other_profilers(harmless).state, FindingState::ok);
}

TEST_F(Preflight, sees_a_profiler_beside_this_process) {
    plant("proc/77/comm", "bash\n");
    EXPECT_EQ(find_other_profilers(facts()).state, FindingState::ok);
    plant("proc/812/comm", "nv-hostengine\n");
    const Finding finding = find_other_profilers(facts());
    EXPECT_EQ(finding.state, FindingState::unknown);  // it need not hold the counters
    EXPECT_THAT(finding.detail, HasSubstr("nv-hostengine (pid 812)"));
    EXPECT_THAT(finding.remedy, HasSubstr("dcgmi profile --pause"));
}

TEST_F(Preflight, sees_mps) {
    EXPECT_EQ(find_mps(facts()).state, FindingState::ok);
    PreflightFacts client = facts();
    client.environment["CUDA_MPS_PIPE_DIRECTORY"] = "/run/mps";
    EXPECT_EQ(find_mps(client).state, FindingState::unknown);
    plant("proc/5/comm", "nvidia-cuda-mps\n");  // comm is cut at 15 characters
    EXPECT_THAT(find_mps(facts()).detail, HasSubstr("pid 5"));
}

TEST_F(Preflight, sees_mig_from_what_the_driver_says) {
    PreflightFacts device = facts();
    EXPECT_EQ(find_mig(device).state, FindingState::unknown);
    device.device_name = "NVIDIA H200";
    device.device_uuid = "GPU-1b2c";
    EXPECT_EQ(find_mig(device).state, FindingState::ok);
    device.device_name = "NVIDIA H200 MIG 1g.18gb";
    EXPECT_THAT(find_mig(device).detail, HasSubstr("MIG instance"));
}

TEST_F(Preflight, sees_wsl) {
    plant("proc/sys/kernel/osrelease", "6.1.0-41-amd64\n");
    EXPECT_EQ(find_wsl(facts()).state, FindingState::ok);
    plant("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n");
    EXPECT_EQ(find_wsl(facts()).detail, "under WSL");
}

TEST_F(Preflight, knows_which_gpus_have_counters) {
    const auto state_of = [this](int major, int minor) {
        PreflightFacts device = facts();
        device.device_major = major;
        device.device_minor = minor;
        return find_architecture(device).state;
    };
    EXPECT_EQ(state_of(7, 0), FindingState::problem);
    EXPECT_EQ(state_of(7, 5), FindingState::ok);
    EXPECT_EQ(state_of(12, 1), FindingState::ok);
    EXPECT_EQ(find_architecture(facts()).state, FindingState::unknown);
}

TEST_F(Preflight, gives_every_finding_a_name_and_a_detail) {
    for (const Finding& finding : preflight(facts())) {
        EXPECT_FALSE(finding.name.empty());
        EXPECT_FALSE(finding.detail.empty()) << finding.name;
    }
    EXPECT_EQ(process_facts().root, "/");
    EXPECT_FALSE(process_facts().environment.empty());
}

TEST_F(Preflight, of_the_collector_is_a_sentence_with_or_without_a_gpu) {
    const Finding finding = find_collector(0);
    EXPECT_FALSE(finding.detail.empty());
    EXPECT_NE(finding.state, FindingState::unknown);
}

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
