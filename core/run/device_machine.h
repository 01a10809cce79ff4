// The machine that the model predicts for a device that is present.
#pragma once

#include "core/device/device.h"
#include "core/machine/machine.h"

namespace coalprof {

Machine machine_of(const DeviceFacts& facts);

}  // namespace coalprof
