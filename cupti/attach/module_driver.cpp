#include "cupti/attach/module_driver.h"

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

}  // namespace coalprof
