#include "cli/device_machine.h"

namespace coalprof {

Machine machine_of(const DeviceFacts& facts) {
    // Two transfers per clock: the memory clock counts cycles of a double data rate.
    const double peak =
        2.0 * static_cast<double>(facts.memory_clock_hz) * facts.memory_bus_bits / 8;
    return machine_of_device({facts.major, facts.minor}, facts.name,
                             DeviceSizes{facts.multiprocessors, peak, facts.l2_bytes});
}

}  // namespace coalprof
