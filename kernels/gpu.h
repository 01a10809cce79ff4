// One device with its primary context, current in the thread that made it. Owns nothing else:
// memory, modules and events hold a reference to it and are destroyed before it.
#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace coalprof
