// Cycles that single instructions, loads and blocks take, by kernels that look at the clock
// themselves: the input of the simulation of kernels (core/machine/sim_rates.h).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/source/arguments.h"
#include "kernels/workbench.h"

namespace coalprof {

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
