// Ampere, 2020: compute capability 8.0 to 8.7.
#include "core/machine/generation.h"

namespace coalprof::chips::ampere {

constexpr Rules of_80() {
    Rules rules = sectored({8, 0}, "Ampere", split_a100, occupancy_8x_on(2048, 32, 164));
    rules.evidence = Evidence::published;
    rules.source = "counters of an A100 (gpu-benches) and the Kernel Profiling Guide";
    rules.memory.fill_bytes = 64;
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst), A100";
    return rules;
}

constexpr Rules of_86() {
    Rules rules = sectored({8, 6}, "Ampere", split_100, occupancy_8x_on(1536, 16, 100));
    rules.evidence = Evidence::published;
    rules.source = "counters of an A40 (gpu-benches) and the Kernel Profiling Guide";
    rules.shared.evidence = Evidence::published;
    rules.shared.source = "counters of a GA102; the rule as measured on an H200";
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst), A40";
    return rules;
}

constexpr std::array rules{of_80(), of_86(),
                           sectored({8, 7}, "Ampere", split_a100, occupancy_8x_on(1536, 16, 164))};

constexpr std::string_view a100_guide =
    "TechPowerUp GPU Database (2025-12); L2: NVIDIA Ampere GPU Architecture Tuning Guide";
constexpr std::string_view a10g_reports =
    "multiprocessors as PyTorch prints those of an A10G; else TechPowerUp GPU Database (2026-02), "
    "which has 72";
constexpr std::string_view orin_brief = "NVIDIA Jetson AGX Orin Series technical brief";
// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"a30", "A30", {8, 0}, 56, 933.1e9, 24 * mib, 24 * gib, database, 1440},
    Board{"a100-40", "A100 SXM 40 GB", {8, 0}, 108, peak(1215, 5120), 40 * mib, 40 * gib, sheet, 1410, "a100 40 gb,a100-sxm-40,a100-sxm4-40gb"},
    Board{"a100-40-pcie", "A100 PCIe 40 GB", {8, 0}, 108, peak(1215, 5120), 40 * mib, 40 * gib, database, 1410, "a100-pcie-40,a100-pcie-40gb"},
    Board{"a100-80", "A100 SXM 80 GB", {8, 0}, 108, peak(1593, 5120), 40 * mib, 80 * gib, sheet, 1410, "a100,a100-sxm,a100 80 gb,a100-sxm-80,a100-sxm4-80gb"},
    Board{"a100-80-pcie", "A100 PCIe 80 GB", {8, 0}, 108, peak(1512, 5120), 40 * mib, 80 * gib, a100_guide, 1410, "a100-pcie,a100-pcie-80,a100 80gb pcie"},
    Board{"a800-pcie", "A800 PCIe 80 GB", {8, 0}, 108, peak(1512, 5120), unknown, 80 * gib, listed, 1410},
    Board{"a800", "A800 SXM 80 GB", {8, 0}, 108, peak(1593, 5120), 40 * mib, 80 * gib, listed, 1410, "a800-sxm,a800-sxm4-80gb"},
    Board{"a10", "A10", {8, 6}, 72, 600.2e9, 6 * mib, 24 * gib, database, 1695},
    Board{"a40", "A40", {8, 6}, 84, 695.8e9, 6 * mib, 48 * gib, database, 1740},
    Board{"rtxa6000", "RTX A6000", {8, 6}, 84, 768e9, 6 * mib, 48 * gib, database, 1800},
    Board{"rtx3050", "GeForce RTX 3050", {8, 6}, 20, 224e9, 2 * mib, 8 * gib, database, 1777},
    Board{"rtx3060", "GeForce RTX 3060", {8, 6}, 28, 360e9, 3 * mib, 12 * gib, database, 1777},
    Board{"rtx3060ti", "GeForce RTX 3060 Ti", {8, 6}, 38, 448e9, 4 * mib, 8 * gib, database, 1665},
    Board{"rtx3070", "GeForce RTX 3070", {8, 6}, 46, 448e9, 4 * mib, 8 * gib, database, 1725},
    Board{"rtx3070ti", "GeForce RTX 3070 Ti", {8, 6}, 48, 608.3e9, 4 * mib, 8 * gib, database, 1770},
    Board{"rtx3080", "GeForce RTX 3080", {8, 6}, 68, 760.3e9, 5 * mib, 10 * gib, database, 1710, "geforce rtx 3080 10gb"},
    Board{"rtx3080-12", "GeForce RTX 3080 12 GB", {8, 6}, 70, 912.4e9, 6 * mib, 12 * gib, database, 1710},
    Board{"rtx3080ti", "GeForce RTX 3080 Ti", {8, 6}, 80, 912.4e9, 6 * mib, 12 * gib, database, 1665},
    Board{"rtx3090", "GeForce RTX 3090", {8, 6}, 82, peak(9751, 384), 6 * mib, 24 * gib, sheet, 1695},
    Board{"rtx3090ti", "GeForce RTX 3090 Ti", {8, 6}, 84, 1008e9, 6 * mib, 24 * gib, database, 1860},
    Board{"a2", "A2", {8, 6}, 10, 200.1e9, 2 * mib, 16 * gib, listed, 1770},
    Board{"a10g", "A10G", {8, 6}, 80, 600.2e9, 6 * mib, 24 * gib, a10g_reports, 1710},
    Board{"a16", "A16 (one of four)", {8, 6}, 10, 200.1e9, 2 * mib, 16 * gib, listed, 1755},
    Board{"rtxa1000", "RTX A1000", {8, 6}, 18, 192e9, 2 * mib, 8 * gib, listed, 1462, "a1000"},
    Board{"rtxa2000", "RTX A2000", {8, 6}, 26, 288e9, 3 * mib, 12 * gib, listed, 1200, "a2000"},
    Board{"rtxa4000", "RTX A4000", {8, 6}, 48, 448e9, 4 * mib, 16 * gib, listed, 1560, "a4000"},
    Board{"rtxa4500", "RTX A4500", {8, 6}, 56, 640e9, 6 * mib, 20 * gib, listed, 1650, "a4500"},
    Board{"rtxa5000", "RTX A5000", {8, 6}, 64, 768e9, 6 * mib, 24 * gib, listed, 1695, "a5000"},
    Board{"rtxa5500", "RTX A5500", {8, 6}, 80, 768e9, 6 * mib, 24 * gib, listed, 1665, "a5500"},
    Board{"rtx3050-laptop", "GeForce RTX 3050 Laptop GPU", {8, 6}, 16, 192e9, 2 * mib, 6 * gib, listed},
    Board{"rtx3060-laptop", "GeForce RTX 3060 Laptop GPU", {8, 6}, 30, 336e9, 3 * mib, 6 * gib, listed},
    Board{"rtx3070-laptop", "GeForce RTX 3070 Laptop GPU", {8, 6}, 40, 448e9, 4 * mib, 8 * gib, listed},
    Board{"rtx3080-laptop", "GeForce RTX 3080 Laptop GPU", {8, 6}, 48, 448e9, 4 * mib, 16 * gib, listed},
    Board{"orin", "Jetson AGX Orin", {8, 7}, 16, 204.8e9, 4 * mib, 64 * gib, orin_brief, 1300},
    Board{"orin-nano", "Jetson Orin Nano", {8, 7}, 8, 68.22e9, 2 * mib, 8 * gib, listed, 625},
    Board{"orin-nx", "Jetson Orin NX", {8, 7}, 8, 102.4e9, unknown, 16 * gib, listed, 918},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::ampere
