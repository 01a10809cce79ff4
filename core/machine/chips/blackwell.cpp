// Blackwell, 2024: compute capability 10.x to 12.x. No GPU after Hopper was measured for these
// rules.
#include "core/machine/generation.h"

namespace coalprof::chips::blackwell {

constexpr Rules of(ComputeCapability cc, std::span<const L1Split> splits,
                   const OccupancyLimits& limits, std::uint32_t barriers) {
    Rules rules = sectored(cc, "Blackwell", splits, with_barriers(limits, barriers));
    rules.abilities.widest_access_bytes = 32;
    return rules;
}
// 10.x with HBM: L2 fetches 64 bytes as on A100 and H200, assumed.
constexpr Rules with_hbm(int minor) {
    Rules rules = of({10, minor}, split_hopper, occupancy_8x_on(2048, 32, 228), 64);
    rules.memory.fill_bytes = 64;
    return rules;
}
constexpr Rules thor(ComputeCapability cc) {
    return of(cc, split_hopper, occupancy_8x_on(1536, 24, 228), 24);
}
constexpr Rules with_gddr(int minor) {
    return of({12, minor}, split_100, occupancy_8x_on(1536, 24, 100), 24);
}

constexpr std::array rules{with_hbm(0), thor({10, 1}),  // 11.0's name before CUDA 13
                           with_hbm(3), thor({11, 0}), with_gddr(0), with_gddr(1)};

constexpr std::string_view queried_b200 =
    "multiprocessors, memory clock, bus and L2 as a B200 reports them "
    "(github.com/pytorch/ao/pull/4002); clock: TechPowerUp GPU Database (2025-12)";
constexpr std::string_view verda =
    "verda.com/blog/gb300-nvl72-architecture (bandwidth); multiprocessors and clock of the B300: "
    "TechPowerUp GPU Database (2025-12)";
constexpr std::string_view wikipedia =
    "Wikipedia, List of Nvidia graphics processing units (bandwidth)";
constexpr std::string_view tvm_thor =
    "data sheet; L2: what a Thor reports (github.com/apache/tvm/pull/20259)";
// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"b100", "B100", {10, 0}, unknown_count, 8e12, unknown, 192 * gib, wikipedia},
    Board{"b200", "B200", {10, 0}, 148, peak(3996, 7680), 129536 * kib, 192 * gib, queried_b200, 1965},
    Board{"gb200", "GB200 (one GPU)", {10, 0}, unknown_count, 7.7e12, unknown, 192 * gib, verda, unknown, "gb200"},
    Board{"b300", "B300", {10, 3}, 148, 7.7e12, unknown, 288 * gib, verda, 2032},
    Board{"gb300", "GB300 (one GPU)", {10, 3}, unknown_count, 8e12, unknown, 288 * gib, verda, unknown, "gb300"},
    Board{"thor", "Jetson AGX Thor", {11, 0}, 20, 273e9, 32 * mib, 128 * gib, tvm_thor, unknown, "jetson t5000"},
    Board{"rtx5060", "GeForce RTX 5060", {12, 0}, 30, 448e9, 32 * mib, 8 * gib, database, 2497},
    Board{"rtx5060ti", "GeForce RTX 5060 Ti", {12, 0}, 36, 448e9, 32 * mib, 16 * gib, database, 2572},
    Board{"rtx5070", "GeForce RTX 5070", {12, 0}, 48, 672e9, 48 * mib, 12 * gib, database, 2512},
    Board{"rtx5070ti", "GeForce RTX 5070 Ti", {12, 0}, 70, 896e9, 48 * mib, 16 * gib, database, 2452},
    Board{"rtx5080", "GeForce RTX 5080", {12, 0}, 84, 960e9, 64 * mib, 16 * gib, database, 2617},
    Board{"rtx5090", "GeForce RTX 5090", {12, 0}, 170, peak(14000, 512), 96 * mib, 32 * gib, sheet, 2407},
    Board{"rtx5050", "GeForce RTX 5050", {12, 0}, 20, 320e9, 24 * mib, 8 * gib, listed, 2572},
    Board{"rtx5090d", "GeForce RTX 5090 D", {12, 0}, 170, 1792e9, 96 * mib, 32 * gib, listed, 2407},
    Board{"rtx5070-laptop", "GeForce RTX 5070 Laptop GPU", {12, 0}, 36, 384e9, 32 * mib, 8 * gib, listed},
    Board{"rtx5080-laptop", "GeForce RTX 5080 Laptop GPU", {12, 0}, 60, 896e9, 64 * mib, 16 * gib, listed},
    Board{"rtx5090-laptop", "GeForce RTX 5090 Laptop GPU", {12, 0}, 82, 896e9, 64 * mib, 24 * gib, listed},
    Board{"rtxpro4000", "RTX PRO 4000 Blackwell", {12, 0}, 70, 672e9, 48 * mib, 24 * gib, listed, 2055, "rtx pro 4000"},
    Board{"rtxpro5000", "RTX PRO 5000 Blackwell", {12, 0}, 110, 1344e9, 96 * mib, 72 * gib, listed, 2377, "rtx pro 5000"},
    Board{"rtxpro6000", "RTX PRO 6000 Blackwell", {12, 0}, 188, 1792e9, 128 * mib, 96 * gib, listed, 2617, "rtx pro 6000"},
    Board{"gb10", "GB10 (DGX Spark)", {12, 1}, 48, 273e9, unknown, 128 * gib, database, 2418, "dgx spark"},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::blackwell
