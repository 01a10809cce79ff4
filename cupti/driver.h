// The few calls of the CUDA driver that the collector itself needs. They come first: several CUPTI
// calls crash without a driver (seen with CUPTI 13.0.85: cuptiDeviceGetChipName,
// cuptiRangeProfilerEnable, cuptiProfilerGetCounterAvailability).
#pragma once

#include <cuda.h>

#include <cstdint>

namespace coalprof {

// A plain struct, so that a scripted fake can stand in.
struct CounterDriver {
    decltype(&::cuInit) init = nullptr;
    decltype(&::cuDriverGetVersion) driver_get_version = nullptr;
    decltype(&::cuDeviceGetCount) device_get_count = nullptr;
    decltype(&::cuDeviceGet) device_get = nullptr;
    decltype(&::cuCtxGetCurrent) context_get_current = nullptr;
};

// A function of the driver's library. Throws CountersError: no driver, or it lacks the function.
void* driver_function(const char* symbol);
template <typename Function>
void bind_driver(const char* symbol, Function& slot) {
    slot = reinterpret_cast<Function>(driver_function(symbol));
}

// Taken from the driver's library, once per process. Throws CountersError without a driver.
const CounterDriver& counter_driver();

// Starts the driver and returns the handle of device `index`. Throws CountersError: no GPU, no such
// device, a driver that does not start.
CUdevice open_device(const CounterDriver& driver, int index);

// The driver's CUDA version: 13000 is 13.0; 0: unknown.
std::uint32_t driver_cuda_version(const CounterDriver& driver);

// The context current on this thread. Throws CountersError without one.
CUcontext current_context(const CounterDriver& driver);

}  // namespace coalprof
