// The highest rates at which this GPU reads and copies: the ceilings that measured bandwidth is
// compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "kernels/workbench.h"

namespace coalprof {

// Both are measured at the first use of either, in about 17 ms on any GPU (42 passes of 0.4 ms),
// and kept. Throws PointError.
class Ceilings {
 public:
    explicit Ceilings(Workbench& bench) : bench_(bench) {}

    // Bytes per second of the best simple loop that reads a buffer far larger than L2.
    double read() { return rates().read; }
    // Bytes per second, read and written together, of a copy within device memory.
    double copy() { return rates().copy; }

    static CompileRequest request();

 private:
    struct Rates {
        double read = 0;
        double copy = 0;
    };

    const Rates& rates();
    std::uint64_t buffer_bytes() const;
    double read_rate(const Buffer& buffer);
    double copy_rate(const Buffer& buffer);
    double rate_of(std::uint64_t bytes, const std::function<void()>& launch);

    Workbench& bench_;
    std::optional<Rates> rates_;
};

}  // namespace coalprof
