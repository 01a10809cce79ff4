// The highest rates at which the GPU at hand reads and copies, and the share of them that a launch
// reaches. Measured once, before the first point of a sweep: never between timed launches.
#pragma once

#include <memory>

#include "core/device/device.h"
#include "core/machine/machine.h"
#include "core/pattern/program.h"
#include "core/result/reading.h"
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

// The machine that the model predicts for a device that is present.

Machine machine_of(const DeviceFacts& facts);

// The time that launches take to start on the host at hand. Hosts with the same kind of GPU differ
// by up to 1.7 us (docs/accuracy.md), which is half of the time of a small launch. Timed once,
// before the first point of a sweep.

struct HostStart {
    Reading seconds;  // not there where the model gives this GPU's launches no time
    // The GPU's known rates with that start. Null where it was not measured.
    std::shared_ptr<const MeasuredRates> rates;
};

// In seconds: how much longer the shortest launch takes than the model predicts without a start. A
// start that cannot be had (no memory for the launch) is Unavailable. Throws DeviceLostError.
HostStart measure_start(KernelLauncher& launcher);

}  // namespace coalprof
