// What a driver call's answer means for the run: nothing, one failed point, or a lost device.
#pragma once

#include <string>
#include <string_view>

#include "core/device/device.h"
#include "kernels/driver_api.h"

namespace coalprof {

// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"; the bare number where the driver has no name for it.
std::string describe(const DriverApi& api, CUresult status);

// Whether the process can make no further use of the GPU after `status`.
bool is_sticky(CUresult status);

// Throws when `status` is an error: DeviceLostError when it is sticky, else PointError. `doing`
// completes "cannot ...".
void check(const DriverApi& api, CUresult status, std::string_view doing);

}  // namespace coalprof
