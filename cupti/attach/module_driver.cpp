#include "cupti/attach/module_driver.h"

#include <algorithm>
#include <thread>

#include "core/device/device.h"
#include "cupti/driver.h"

namespace coalprof {

namespace {

std::uint32_t capability_of(const ModuleDriver& driver, CUdevice device) {
    int major = 0;
    int minor = 0;
    driver.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    driver.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    return static_cast<std::uint32_t>(major * 10 + minor);
}

}  // namespace

ModuleDriver module_driver() {
    ModuleDriver driver;
    bind_driver("cuCtxGetDevice", driver.context_get_device);
    bind_driver("cuDeviceGetCount", driver.device_get_count);
    bind_driver("cuDeviceGetAttribute", driver.device_get_attribute);
    bind_driver("cuCtxPushCurrent_v2", driver.context_push);
    bind_driver("cuCtxPopCurrent_v2", driver.context_pop);
    bind_driver("cuLinkCreate_v2", driver.link_create);
    bind_driver("cuLinkAddData_v2", driver.link_add_data);
    bind_driver("cuLinkComplete", driver.link_complete);
    bind_driver("cuLinkDestroy", driver.link_destroy);
    bind_driver("cuLibraryGetGlobal", driver.global_of_code);
    bind_driver("cuModuleGetGlobal_v2", driver.global_of_module);
    bind_driver("cuMemcpyDtoH_v2", driver.copy_to_host);
    return driver;
}

std::uint32_t capability_of_code(const ModuleDriver& driver) {
    CUdevice device = 0;
    if (driver.context_get_device(&device) != CUDA_SUCCESS) device = 0;
    return capability_of(driver, device);
}

bool gpus_differ(const ModuleDriver& driver) {
    int count = 0;
    if (driver.device_get_count(&count) != CUDA_SUCCESS) return false;
    for (CUdevice device = 1; device < count; ++device)
        if (capability_of(driver, device) != capability_of(driver, 0)) return true;
    return false;
}

namespace {

using Clock = std::chrono::steady_clock;

// Most kernels end within this time, and sleeping would take longer.
constexpr std::chrono::milliseconds spinning{1};
constexpr std::chrono::milliseconds longest_sleep{5};

template <typename Function>
void bind_if_there(const char* symbol, Function& slot) {
    try {
        bind_driver(symbol, slot);
    } catch (const CountersError&) {
        slot = nullptr;
    }
}

}  // namespace

// Waits at most an eighth longer than needed.
bool comes_true(const std::function<bool()>& claim, std::chrono::milliseconds patience) {
    const auto begin = Clock::now();
    while (!claim()) {
        const Clock::duration waited = Clock::now() - begin;
        if (waited >= patience) return false;
        if (waited < spinning)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, longest_sleep));
    }
    return true;
}

WorkDriver work_driver() {
    WorkDriver driver;
    bind_if_there("cuCtxPushCurrent_v2", driver.context_push);
    bind_if_there("cuCtxPopCurrent_v2", driver.context_pop);
    bind_if_there("cuCtxSynchronize", driver.context_synchronize);
    bind_if_there("cuStreamQuery", driver.stream_query);
    bind_if_there("cuStreamIsCapturing", driver.stream_is_capturing);
    bind_if_there("cuEventCreate", driver.event_create);
    bind_if_there("cuEventQuery", driver.event_query);
    bind_if_there("cuCtxRecordEvent", driver.record_all_work);
    return driver;
}

bool RunningWork::has_ended(CUstream stream) const {
    return !driver_.stream_query || driver_.stream_query(stream) != CUDA_ERROR_NOT_READY;
}

// After all work that the context was given. Nothing waits for the mark except the one who asks.
bool RunningWork::mark(CUcontext context) {
    auto found = marks_.find(context);
    if (found == marks_.end()) {
        CUevent event = nullptr;
        if (driver_.event_create(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return false;
        found = marks_.emplace(context, event).first;
    }
    return driver_.record_all_work(context, found->second) == CUDA_SUCCESS;
}

void RunningWork::synchronize(CUcontext context) {
    if (!driver_.context_synchronize || !driver_.context_push || !driver_.context_pop ||
        driver_.context_push(context) != CUDA_SUCCESS)
        return;
    driver_.context_synchronize();
    CUcontext popped = nullptr;
    driver_.context_pop(&popped);
}

bool RunningWork::ends_within(CUcontext context, std::chrono::milliseconds patience) {
    if (!driver_.record_all_work || !driver_.context_push || !driver_.context_pop ||
        !driver_.event_create || !driver_.event_query ||
        driver_.context_push(context) != CUDA_SUCCESS)
        return true;
    const auto is_reached = [&] {
        return driver_.event_query(marks_.at(context)) != CUDA_ERROR_NOT_READY;
    };
    const bool ended = !mark(context) || comes_true(is_reached, patience);
    CUcontext popped = nullptr;
    driver_.context_pop(&popped);
    return ended;
}

}  // namespace coalprof
