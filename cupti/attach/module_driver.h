// The driver's calls by which code is loaded, compiled and read from, and which GPU it is for.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace coalprof {

// A plain struct, so that a scripted fake can stand in.
struct ModuleDriver {
    decltype(&::cuCtxGetDevice) context_get_device = nullptr;
    decltype(&::cuDeviceGetCount) device_get_count = nullptr;
    decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
    decltype(&::cuCtxPushCurrent) context_push = nullptr;
    decltype(&::cuCtxPopCurrent) context_pop = nullptr;
    decltype(&::cuLinkCreate) link_create = nullptr;
    decltype(&::cuLinkAddData) link_add_data = nullptr;
    decltype(&::cuLinkComplete) link_complete = nullptr;
    decltype(&::cuLinkDestroy) link_destroy = nullptr;
    decltype(&::cuLibraryGetGlobal) global_of_code = nullptr;
    decltype(&::cuModuleGetGlobal) global_of_module = nullptr;
    decltype(&::cuMemcpyDtoH) copy_to_host = nullptr;
};

// Throws CountersError: no driver, or one that is too old (before CUDA 12).
ModuleDriver module_driver();

// Of the GPU that code is compiled for, 90 is 9.0: that of the current context, or the first.
std::uint32_t capability_of_code(const ModuleDriver& driver);

// Code is compiled for one of them, and a library of code serves all.
bool gpus_differ(const ModuleDriver& driver);

}  // namespace coalprof
