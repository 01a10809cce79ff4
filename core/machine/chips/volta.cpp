// Volta, 2017: compute capability 7.0 and 7.2, the first sectored L1.
#include "core/machine/generation.h"

namespace coalprof::chips::volta {

constexpr auto splits = unified(128, {0, 8, 16, 32, 64, 96});

constexpr Rules of(int minor) {
    Rules rules = sectored({7, minor}, "Volta", splits, occupancy_3x_to_7x(2048, 32, 96, 96));
    rules.memory.fill_settable = false;
    return rules;
}

constexpr Rules of_70() {
    Rules rules = of(0);
    rules.evidence = Evidence::published;
    rules.source = "counters of a Titan V and NVIDIA's Kernel Profiling Guide";
    rules.memory.fill_bytes = 64;
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst), V100";
    rules.memory.sustained_fraction = 0.88;
    rules.memory.sustained_source = "V100, 790 of 898 GB/s: CUDA Best Practices Guide";
    return rules;
}

constexpr std::array rules{of_70(), of(2)};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"titanv", "Titan V", {7, 0}, 80, peak(848, 3072), 4608 * kib, 12 * gib, database, 1455},
    Board{"v100", "Tesla V100", {7, 0}, 80, peak(877, 4096), 6 * mib, 32 * gib, sheet, 1530, "v100-sxm2,v100-sxm2-16gb,v100-sxm2-32gb"},
    Board{"v100-pcie", "Tesla V100 PCIe", {7, 0}, 80, peak(877, 4096), 6 * mib, 32 * gib, database, 1380, "v100-pcie-16gb,v100-pcie-32gb"},
    Board{"v100s", "Tesla V100S", {7, 0}, 80, peak(1107, 4096), 6 * mib, 32 * gib, database, 1597, "v100s-pcie-32gb"},
    Board{"gv100", "Quadro GV100", {7, 0}, 80, 868.4e9, 6 * mib, 32 * gib, listed, 1627},
    Board{"xavier", "Jetson AGX Xavier", {7, 2}, 8, 137e9, 512 * kib, 64 * gib, sheet, 1377},
    Board{"xavier-nx", "Jetson Xavier NX", {7, 2}, 6, 59.71e9, unknown, 16 * gib, listed, 1100},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::volta
