// How fast the GPU at hand reads and copies at all, and what share of that a launch reaches. Taken
// once, before the first point of a sweep: never between timed launches.
#pragma once

#include "core/device/device.h"
#include "core/pattern/program.h"
#include "core/result/result.h"

namespace coalprof {

// In bytes per second. A reading that is not there: no time is measured, so nothing is compared.
struct DeviceCeilings {
    Reading read;
    Reading copy;
};

// A ceiling that cannot be had (no memory for it) is Unavailable. Throws DeviceLostError.
DeviceCeilings measure_ceilings(KernelLauncher& launcher);

// `bandwidth` over the ceiling that fits the program: reading where it only loads, else copying.
// Not there where the ceiling or the bandwidth is not, or where the program leaves global memory
// alone.
Reading bandwidth_share(const DeviceCeilings& ceilings, const Program& program,
                        const Reading& bandwidth);

}  // namespace coalprof
