// The CUDA driver API behind a table, which a test fills with a scripted fake. It holds only the
// calls that coalprof makes.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/device/device.h"

namespace coalprof {

// member, exported symbol. All of them are exported by every driver since CUDA 11.0.
#define COALPROF_DRIVER_CALLS(X)                              \
    X(init, cuInit)                                           \
    X(driver_version, cuDriverGetVersion)                     \
    X(error_name, cuGetErrorName)                             \
    X(error_string, cuGetErrorString)                         \
    X(device_count, cuDeviceGetCount)                         \
    X(device_get, cuDeviceGet)                                \
    X(device_name, cuDeviceGetName)                           \
    X(device_uuid, cuDeviceGetUuid)                           \
    X(device_pci_bus_id, cuDeviceGetPCIBusId)                 \
    X(device_attribute, cuDeviceGetAttribute)                 \
    X(device_memory, cuDeviceTotalMem_v2)                     \
    X(context_retain, cuDevicePrimaryCtxRetain)               \
    X(context_release, cuDevicePrimaryCtxRelease_v2)          \
    X(context_set_current, cuCtxSetCurrent)                   \
    X(context_synchronize, cuCtxSynchronize)                  \
    X(context_get_limit, cuCtxGetLimit)                       \
    X(context_set_limit, cuCtxSetLimit)                       \
    X(module_load, cuModuleLoadDataEx)                        \
    X(module_unload, cuModuleUnload)                          \
    X(module_function, cuModuleGetFunction)                   \
    X(module_global, cuModuleGetGlobal_v2)                    \
    X(function_get_attribute, cuFuncGetAttribute)             \
    X(function_set_attribute, cuFuncSetAttribute)             \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(launch, cuLaunchKernel)                                 \
    X(memory_info, cuMemGetInfo_v2)                           \
    X(memory_allocate, cuMemAlloc_v2)                         \
    X(memory_allocate_pitch, cuMemAllocPitch_v2)              \
    X(memory_allocate_managed, cuMemAllocManaged)             \
    X(memory_free, cuMemFree_v2)                              \
    X(host_allocate, cuMemHostAlloc)                          \
    X(host_device_pointer, cuMemHostGetDevicePointer_v2)      \
    X(host_free, cuMemFreeHost)                               \
    X(memory_granularity, cuMemGetAllocationGranularity)      \
    X(address_reserve, cuMemAddressReserve)                   \
    X(address_free, cuMemAddressFree)                         \
    X(memory_create, cuMemCreate)                             \
    X(memory_release, cuMemRelease)                           \
    X(memory_map, cuMemMap)                                   \
    X(memory_unmap, cuMemUnmap)                               \
    X(memory_set_access, cuMemSetAccess)                      \
    X(copy_to_host, cuMemcpyDtoH_v2)                          \
    X(copy_to_device, cuMemcpyHtoD_v2)                        \
    X(copy_on_device, cuMemcpyDtoDAsync_v2)                   \
    X(fill_bytes, cuMemsetD8Async)                            \
    X(texture_create, cuTexObjectCreate)                      \
    X(texture_destroy, cuTexObjectDestroy)                    \
    X(event_create, cuEventCreate)                            \
    X(event_destroy, cuEventDestroy_v2)                       \
    X(event_record, cuEventRecord)                            \
    X(event_query, cuEventQuery)                              \
    X(event_elapsed, cuEventElapsedTime)

struct DriverApi {
#define COALPROF_DRIVER_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
    COALPROF_DRIVER_CALLS(COALPROF_DRIVER_MEMBER)
#undef COALPROF_DRIVER_MEMBER
};

struct DriverLibrary {
    std::optional<DriverApi> api;
    std::string sentence;  // where there is none: the error and a remedy
};

// Takes the calls from the driver's library. Does not initialise it, and is safe without a driver.
DriverLibrary load_driver();

struct DriverState {
    std::string sentence;  // why there is no GPU to work with, and a remedy; empty: there is one
    int version = 0;       // 13000 is CUDA 13.0; 0: unknown
    int devices = 0;
};

// cuInit and the number of devices. Never throws.
DriverState start_driver(const DriverApi& api);

// The meaning of a driver call's answer for the run: nothing, one failed point, or a lost device.

// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"; the bare number if the driver has no name for it.
std::string describe(const DriverApi& api, CUresult status);

// True if the process can make no further use of the GPU after `status`.
bool is_sticky(CUresult status);

// Throws when `status` is an error: DeviceLostError when it is sticky, else PointError. `doing`
// completes "cannot ...".
void check(const DriverApi& api, CUresult status, std::string_view doing);

}  // namespace coalprof
