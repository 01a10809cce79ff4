// The driver's facts about its devices, for `coalprof devices` and for results.
#pragma once

#include <string>
#include <vector>

#include "core/device/device.h"
#include "kernels/driver_api.h"

namespace coalprof {

struct DeviceReport {
    DeviceFacts facts;
    // Further facts, in the order of printing: peak_bytes_per_second, line_bytes,
    // max_registers_per_block, compute_mode, ... Those that the driver does not answer are left
    // out.
    NamedValues more;
};

// Facts of one device. free_memory_bytes needs a context and stays 0 here.
DeviceFacts facts_of(const DriverApi& api, CUdevice device, int index, int driver_version);

struct DeviceList {
    std::vector<DeviceReport> devices;
    std::string problem;     // the reason for an empty list, and a remedy
    int driver_version = 0;  // of CUDA that the driver offers: 13000 is 13.0; 0: not known
};

// Loads and starts the driver. Never throws for want of a GPU; makes no context.
DeviceList take_inventory();
DeviceList list_devices(const DriverApi& api);

}  // namespace coalprof
