#include "cupti/virtual_gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>
#include <type_traits>
#include <utility>

namespace coalprof {
namespace {

// nvmlGpuVirtualizationMode_t of the NVML API reference.
enum Mode : int {
    whole = 0,
    passed_through = 1,
    virtual_gpu = 2,
    host_of_vgpus = 3,
    host_of_vsga = 4
};

Finding finding(FindingState state, std::string detail, std::string remedy = {}) {
    return {.name = "virtual gpu",
            .state = state,
            .detail = std::move(detail),
            .remedy = std::move(remedy)};
}

std::optional<int> mode_of(const std::string& uuid, const NvmlApi& nvml) {
    if (nvml.init() != 0) return std::nullopt;
    void* device = nullptr;
    int mode = 0;
    const bool answers = nvml.device_by_uuid(uuid.c_str(), &device) == 0 &&
                         nvml.virtualization_mode(device, &mode) == 0;
    nvml.shutdown();
    return answers ? std::optional(mode) : std::nullopt;
}

}  // namespace

NvmlApi load_nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    NvmlApi api;
    bool has_all = true;
    const auto bind = [&](auto& slot, const char* symbol) {
        slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(library, symbol));
        has_all = has_all && slot != nullptr;
    };
    bind(api.init, "nvmlInit_v2");
    bind(api.shutdown, "nvmlShutdown");
    bind(api.device_by_uuid, "nvmlDeviceGetHandleByUUID");
    bind(api.virtualization_mode, "nvmlDeviceGetVirtualizationMode");
    return has_all ? api : NvmlApi{};
}

Finding find_virtual_gpu(const PreflightFacts& facts, const NvmlApi& nvml) {
    if (facts.device_uuid.empty()) return finding(FindingState::unknown, "no device to ask");
    if (nvml.init == nullptr)
        return finding(FindingState::unknown,
                       "the driver's libnvidia-ml.so.1, which would know, was not found");
    const std::optional<int> mode = mode_of(facts.device_uuid, nvml);
    if (!mode) return finding(FindingState::unknown, "the driver does not say whether it is one");
    switch (*mode) {
        case whole:
            return finding(FindingState::ok, "not a virtual GPU");
        case passed_through:
            return finding(FindingState::ok,
                           "not a virtual GPU, but one passed through to this machine");
        case host_of_vgpus:
        case host_of_vsga:
            return finding(
                FindingState::unknown,
                "not one itself, but this machine is the host of virtual GPUs on it",
                "While a guest uses it, counters may be refused or count the guest too.");
        case virtual_gpu:
            return finding(
                FindingState::unknown,
                "a virtual GPU: counters are there only if its host allows them",
                "If they are refused, the host's administrator switches them on with the "
                "vGPU plugin parameter enable_profiling.");
        default:
            return finding(FindingState::unknown,
                           fmt::format("the driver answers with mode {}, which is newer than "
                                       "this coalprof",
                                       *mode));
    }
}

}  // namespace coalprof
