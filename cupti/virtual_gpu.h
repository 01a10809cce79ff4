// Whether the GPU is one whole or a share of one that a hypervisor hands out (vGPU): the driver's
// management library NVML knows, and nothing else does before counters are refused.
#pragma once

#include <string>

#include "cupti/preflight.h"

namespace coalprof {

// The calls of NVML that are asked, and a struct so that a scripted fake can stand in. NVML's own
// header is a package that nobody else here needs, so the types are written out: every call answers
// 0 for success, a device is an opaque pointer, a mode a number (NVML API reference,
// nvmlGpuVirtualizationMode_t).
struct NvmlApi {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*device_by_uuid)(const char* uuid, void** device) = nullptr;
    int (*virtualization_mode)(void* device, int* mode) = nullptr;
};

// libnvidia-ml.so.1, which comes with the driver, loaded for the process. None of the calls is set
// where it is not there or lacks one.
NvmlApi load_nvml();

// Asks for the device of facts.device_uuid.
Finding find_virtual_gpu(const PreflightFacts& facts, const NvmlApi& nvml);

}  // namespace coalprof
