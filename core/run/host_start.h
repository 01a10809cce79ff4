// How long launches take to start on the host at hand. Hosts with the same kind of GPU differ by up
// to 1.7 us (docs/accuracy.md), which is half of what a small launch takes. Timed once,
// before the first point of a sweep.
#pragma once

#include <memory>

#include "core/device/device.h"
#include "core/machine/machine.h"
#include "core/result/reading.h"

namespace coalprof {

struct HostStart {
    Reading seconds;  // not there where the model gives this GPU's launches no time
    // What is known of the GPU, with that start. Null where it was not measured.
    std::shared_ptr<const MeasuredRates> rates;
};

// In seconds: what the shortest launch takes longer than the model gives it without a start. A
// start that cannot be had (no memory for the launch) is Unavailable. Throws DeviceLostError.
HostStart measure_start(KernelLauncher& launcher);

}  // namespace coalprof
