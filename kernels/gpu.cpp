#include "kernels/gpu.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/runtime/steps.h"

namespace coalprof {

namespace {

// "0 NVIDIA H200, 1 NVIDIA H200"
std::string list_of_devices(const DriverApi& api, int count) {
    std::string list;
    for (int index = 0; index < count; ++index) {
        std::array<char, 256> name{};
        CUdevice device = 0;
        const bool is_named =
            api.device_get(&device, index) == CUDA_SUCCESS &&
            api.device_name(name.data(), static_cast<int>(name.size() - 1), device) == CUDA_SUCCESS;
        list += fmt::format("{}{}{}{}", index == 0 ? "" : ", ", index, is_named ? " " : "",
                            name.data());
    }
    return list;
}

}  // namespace

CUdevice device_at(const DriverApi& api, const DriverState& state, int index) {
    if (index < 0 || index >= state.devices)
        throw NoSuchDeviceError(
            fmt::format("--device {}: there is no such GPU; this machine has {}", index,
                        list_of_devices(api, state.devices)));
    CUdevice device = 0;
    if (const CUresult status = api.device_get(&device, index); status != CUDA_SUCCESS)
        throw Error(fmt::format("cannot use GPU {}: {}", index, describe(api, status)));
    return device;
}

Gpu::Gpu(const DriverApi& api, CUdevice device) : api_(api), device_(device) {
    const Step step("context made");
    CUresult status = api_.context_retain(&context_, device_);
    if (status != CUDA_SUCCESS)
        throw Error(fmt::format("cannot use the GPU: its context could not be made: {}",
                                describe(api_, status)));
    status = api_.context_set_current(context_);
    if (status == CUDA_SUCCESS) return;
    static_cast<void>(api_.context_release(device_));
    throw Error(fmt::format("cannot use the GPU: its context could not be made current: {}",
                            describe(api_, status)));
}

// Failures here are ignored: the context may be lost already.
Gpu::~Gpu() {
    static_cast<void>(api_.context_set_current(nullptr));
    static_cast<void>(api_.context_release(device_));
}

Gpu::Memory Gpu::memory() const {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(api_.memory_info(&free_bytes, &total_bytes), "ask how much GPU memory is free");
    return {free_bytes, total_bytes};
}

}  // namespace coalprof
