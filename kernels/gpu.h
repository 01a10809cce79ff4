// One device with its primary context, current in the thread that made it. Owns nothing else:
// memory, modules and events hold a reference to it and are destroyed before it. And the facts
// about devices, which need none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "kernels/driver_api.h"

namespace coalprof {

// The driver must have started. Throws NoSuchDeviceError.
CUdevice device_at(const DriverApi& api, const DriverState& state, int index);

class Gpu {
 public:
    // Retains the primary context and makes it current. Throws Error on failure.
    Gpu(const DriverApi& api, CUdevice device);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    // Makes the context current again after another GPU's.
    CUresult make_current() const { return api_.context_set_current(context_); }

    const DriverApi& api() const { return api_; }
    CUdevice device() const { return device_; }

    void check(CUresult status, std::string_view doing) const {
        coalprof::check(api_, status, doing);
    }
    // Waits for everything enqueued.
    void synchronize(std::string_view doing) const { check(api_.context_synchronize(), doing); }

    struct Memory {
        std::uint64_t free_bytes = 0;
        std::uint64_t total_bytes = 0;
    };
    Memory memory() const;

 private:
    DriverApi api_;
    CUdevice device_;
    CUcontext context_ = nullptr;
};

// The driver's facts about its devices, for `coalprof devices` and for results.
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
    int driver_version = 0;  // CUDA that the driver offers: 13000 is 13.0; 0: not known
};

// Loads and starts the driver. Never throws for want of a GPU; makes no context.
DeviceList take_inventory();
DeviceList list_devices(const DriverApi& api);

}  // namespace coalprof
