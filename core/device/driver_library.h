// libcuda.so.1, the library of NVIDIA's driver: loaded here at run time, so that one program runs
// with and without a GPU, and once, for all who call it.
#pragma once

namespace coalprof {

inline constexpr const char* driver_library_name = "libcuda.so.1";

// Its handle for dlsym(); nullptr where there is no driver. Nothing of the driver is started.
void* driver_library();

}  // namespace coalprof
