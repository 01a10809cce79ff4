// What kernels/ finds on this machine, without types of CUDA's: for `coalprof devices` and
// `coalprof doctor`. Nothing here throws for want of a GPU, and no context is made.
#pragma once

#include <string>
#include <vector>

#include "core/device/device.h"

namespace coalprof {

struct InventoriedDevice {
    DeviceFacts facts;
    NamedValues more;  // peak_bytes_per_second, compute_mode, ...
};

struct GpuInventory {
    std::vector<InventoriedDevice> devices;
    std::string problem;     // why there is none, and what to do; empty where there are some
    int driver_version = 0;  // of CUDA that the driver offers: 13000 is 13.0; 0: not known
};
GpuInventory take_inventory();

struct CompilerInventory {
    std::string path;     // of the library that was loaded
    std::string problem;  // why there is none, and what to do; empty where there is one
    int version = 0;      // 13000 is 13.0
};
CompilerInventory find_compiler(int driver_version);

}  // namespace coalprof
