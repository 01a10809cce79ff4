// The highest rates at which the GPU at hand reads and copies, and the share of them that a launch
// reaches. Measured once, before the first point of a sweep: never between timed launches.
#pragma once

#include <memory>

#include "core/device/device.h"
#include "core/machine/machine.h"
#include "core/pattern/program.h"
#include "core/result/reading.h"

namespace coalprof {

// In bytes per second. Absent readings: no time is measured, so nothing is compared.
struct DeviceCeilings {
    Reading read;
    Reading copy;
};

// A ceiling that cannot be measured (no memory for it) is Unavailable. Throws DeviceLostError.
DeviceCeilings measure_ceilings(KernelLauncher& launcher);

// `bandwidth` divided by the ceiling that fits the program: reading if it only loads, else copying.
// Absent without ceiling or bandwidth, or for a program that does not use global memory.
Reading bandwidth_share(const DeviceCeilings& ceilings, const Program& program,
                        const Reading& bandwidth);

// The machine that the model predicts for a present device.

Machine machine_of(const DeviceFacts& facts);

// The time that launches take to start on the host at hand. Hosts with the same kind of GPU differ
// by up to 1.7 us (docs/accuracy.md), which is half of the time of a small launch. Timed once,
// before the first point of a sweep.

struct HostStart {
    Reading seconds;  // absent where the model has no time for this GPU
    // The GPU's known rates with that start. Null where it was not measured.
    std::shared_ptr<const MeasuredRates> rates;
};

// In seconds: how much longer the shortest launch takes than the model predicts without a start. A
// start that cannot be had (no memory for the launch) is Unavailable. Throws DeviceLostError.
HostStart measure_start(KernelLauncher& launcher);

}  // namespace coalprof
