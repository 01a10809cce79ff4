// The CUDA libraries that this process has loaded: found by name at run time, they may come from
// another place than the user thinks.
#pragma once

#include <string>
#include <vector>

namespace coalprof {

// Paths of the driver, NVRTC, CUPTI and what belongs to them, as the loader found them, in the
// order of loading.
std::vector<std::string> loaded_cuda_libraries();

}  // namespace coalprof
