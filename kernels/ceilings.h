// The highest rates at which this GPU reads and copies, the ceilings that measured bandwidth is
// compared with; and the cycles that single instructions take.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/source/arguments.h"
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
    double copy_rate(const Buffer& buffer);
    double rate_of(std::uint64_t bytes, const std::function<void()>& launch);

    Workbench& bench_;
    std::optional<Rates> rates_;
};

// Cycles that single instructions, loads and blocks take, by kernels that look at the clock
// themselves: the input of the simulation of kernels (core/machine/sim_rates.h).
class CycleClock {
 public:
    explicit CycleClock(Workbench& bench);

    // Throws PointError, also where a clock does not advance.
    CycleReadings read();

    static CompileRequest request();

 private:
    // `before`: loads that are not timed; blocks after the first use other parts of the cells.
    struct Chase {
        const char* kernel = nullptr;
        std::uint64_t cells = 0;
        std::uint64_t step_bytes = 0;
        std::uint64_t before = 0;
        std::uint64_t loads = 0;
        std::uint64_t blocks = 1;
        bool is_flushed = false;
    };

    double clock_hertz();
    double instruction();
    double shared_load();
    double chased(const Chase& chase);
    double next_block();
    double fetched(const char* kernel, std::uint64_t apart_bytes, std::uint64_t units);
    // One record for each block.
    std::vector<ClockRecord> launch(const char* kernel, const LaunchSize& size,
                                    KernelParameters parameters);

    Workbench& bench_;
    Buffer cells_;
    Buffer records_;
};

}  // namespace coalprof
