#include "cupti/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/device/device.h"

namespace coalprof {
namespace {

CounterDriver load_driver() {
    CounterDriver driver;
    bind_driver("cuInit", driver.init);
    bind_driver("cuDriverGetVersion", driver.driver_get_version);
    bind_driver("cuDeviceGetCount", driver.device_get_count);
    bind_driver("cuDeviceGet", driver.device_get);
    bind_driver("cuCtxGetCurrent", driver.context_get_current);
    return driver;
}

void start(const CounterDriver& driver) {
    const CUresult result = driver.init(0);
    if (result == CUDA_SUCCESS) return;
    if (result == CUDA_ERROR_NO_DEVICE)
        throw CountersError("cannot read counters: the driver sees no NVIDIA GPU");
    // The stub for linking, from the toolkit's stubs folder, was loaded instead of the real
    // library.
    if (result == CUDA_ERROR_STUB_LIBRARY)
        throw CountersError(
            "cannot read counters: the libcuda.so.1 that was found is the toolkit's stub. Remove "
            "its stubs folder from LD_LIBRARY_PATH.");
    throw CountersError(
        fmt::format("cannot read counters: the NVIDIA driver does not start (cuInit answered {}). "
                    "`nvidia-smi` should show why.",
                    static_cast<int>(result)));
}

}  // namespace

void* driver_function(const char* symbol) {
    void* library = driver_library();
    if (library == nullptr)
        throw CountersError(
            "cannot read counters: there is no NVIDIA driver on this machine (libcuda.so.1 was not "
            "found)");
    void* function = dlsym(library, symbol);
    if (function == nullptr)
        throw CountersError(
            fmt::format("cannot read counters: libcuda.so.1 has no {}. Install the NVIDIA driver "
                        "anew, or a newer one.",
                        symbol));
    return function;
}

const CounterDriver& counter_driver() {
    static const CounterDriver driver = load_driver();
    return driver;
}

CUdevice open_device(const CounterDriver& driver, int index) {
    start(driver);
    int count = 0;
    if (driver.device_get_count(&count) != CUDA_SUCCESS || count == 0)
        throw CountersError("cannot read counters: the driver sees no NVIDIA GPU");
    CUdevice device = 0;
    if (index < 0 || index >= count || driver.device_get(&device, index) != CUDA_SUCCESS)
        throw CountersError(fmt::format(
            "cannot read counters: there is no device {}; the driver sees {}", index, count));
    return device;
}

std::uint32_t driver_cuda_version(const CounterDriver& driver) {
    int version = 0;
    if (driver.driver_get_version(&version) != CUDA_SUCCESS || version < 0) return 0;
    return static_cast<std::uint32_t>(version);
}

CUcontext current_context(const CounterDriver& driver) {
    CUcontext context = nullptr;
    const CUresult result = driver.context_get_current(&context);
    if (result != CUDA_SUCCESS)
        throw CountersError(
            fmt::format("cannot read counters: the CUDA context cannot be used (cuCtxGetCurrent "
                        "answered {})",
                        static_cast<int>(result)));
    if (context == nullptr)
        throw CountersError("cannot read counters: no CUDA context is current on this thread");
    return context;
}

}  // namespace coalprof
