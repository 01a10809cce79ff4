#include "core/run/device_machine.h"

namespace coalprof {

Machine machine_of(const DeviceFacts& facts) {
    return machine_of_device(
        {facts.major, facts.minor}, facts.name,
        DeviceSizes{facts.multiprocessors, facts.peak_bytes_per_second(), facts.l2_bytes});
}

}  // namespace coalprof
