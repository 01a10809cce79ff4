// How fast this GPU reads and copies at all: the ceilings that measured bandwidth is compared with.
#pragma once

#include <optional>

#include "kernels/workbench.h"

namespace coalprof {

// Each is measured at its first use, in well under 0.1 s on an H200, and kept. Throws PointError.
class Ceilings {
 public:
    explicit Ceilings(Workbench& bench) : bench_(bench) {}

    // Bytes per second of the best simple loop that reads a buffer far larger than L2.
    double read();
    // Bytes per second, read and written together, of a copy within device memory.
    double copy();

    static CompileRequest request();

 private:
    Buffer measured_buffer();

    Workbench& bench_;
    std::optional<double> read_;
    std::optional<double> copy_;
};

}  // namespace coalprof
