// The launcher of the CUDA driver API and NVRTC. Names no type of CUDA's: cli/wiring includes this
// and nothing else of kernels/ but gpu.h.
#pragma once

#include <future>
#include <memory>
#include <vector>

#include "core/device/device.h"

namespace coalprof {

struct DriverApi;
struct NvrtcLibrary;

struct LauncherOptions {
    int device = 0;
    // Plans whose kernels are compiled while the driver makes its context.
    std::vector<Plan> ahead;
    bool compiles_ceilings_ahead = false;  // likewise, for read_ceiling() and copy_ceiling()
};

// Loads the driver and NVRTC, and opens the device. The context is current in the calling thread,
// and the launcher must be used and destroyed there. Throws Error, with a sentence about the
// missing part: no driver, no NVRTC; NoSuchDeviceError.
std::unique_ptr<KernelLauncher> make_launcher(const LauncherOptions& options);

// The same with libraries that are loaded, or being loaded.
std::unique_ptr<KernelLauncher> make_launcher(const DriverApi& driver,
                                              std::shared_future<NvrtcLibrary> nvrtc,
                                              const LauncherOptions& options);

// True if starting the driver is likely to show a GPU: its library is installed, a device file of
// NVIDIA's or of WSL is there, and CUDA_VISIBLE_DEVICES does not hide all. Does not start it.
bool may_have_gpu();

// The reason why make_launcher() would find no GPU, in one sentence; empty where it would. For a
// run that goes on without one.
std::string why_no_gpu();

}  // namespace coalprof
