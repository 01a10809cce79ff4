#include "kernels/inventory.h"

#include "kernels/device_query.h"
#include "kernels/nvrtc_api.h"

namespace coalprof {

GpuInventory take_inventory() {
    DeviceList list = list_devices();
    GpuInventory inventory{
        .devices = {}, .problem = std::move(list.problem), .driver_version = list.driver_version};
    for (DeviceReport& report : list.devices)
        inventory.devices.push_back({std::move(report.facts), std::move(report.more)});
    return inventory;
}

CompilerInventory find_compiler(int driver_version) {
    const NvrtcLibrary library = load_nvrtc(driver_version);
    CompilerInventory inventory{.path = library.path, .problem = library.sentence};
    if (!library.api) return inventory;
    int major = 0;
    int minor = 0;
    if (library.api->version(&major, &minor) == NVRTC_SUCCESS)
        inventory.version = 1000 * major + 10 * minor;
    return inventory;
}

}  // namespace coalprof
