// Fermi, 2010: compute capability 2.x, an L1 of 128-byte lines.
#include "core/machine/generation.h"

namespace coalprof::chips::fermi {

constexpr std::array splits{L1Split{16, 48}, L1Split{48, 16}};

constexpr OccupancyLimits limits() {
    OccupancyLimits limits{.threads = 1536, .blocks = 8, .registers = 32 * k};
    limits.shared_bytes = limits.shared_bytes_per_block = 48 * k;
    limits.registers_per_block = 32 * k;
    limits.registers_per_thread = 63;
    limits.register_unit = 64;
    limits.sub_partitions = 2;
    limits.warp_unit = 2;
    limits.shared_unit_bytes = 128;
    limits.source = calculator;
    return limits;
}

constexpr Rules of(int minor) {
    Rules rules = documented({2, minor}, "Fermi", guide_4);
    rules.global = GlobalRule::lines_or_segments;
    rules.transactions = {.request_lanes = {32, 16, 8}};
    rules.l1_loads = {.keeps_ca = true, .keeps_cs = true, .by_default = true, .fetch_bytes = 128};
    // The guide says that most 16-byte accesses conflict once, hence the extra pass.
    rules.shared.extra_passes = 1;
    rules.l1.splits = splits;
    rules.l1.percent_of_largest = false;
    rules.occupancy = limits();
    rules.abilities = {.double_atomics = false,
                       .managed_memory = false,
                       .grid_blocks = {65535, 65535, 65535},
                       .native_shared_atomics = false,
                       .source = abilities_guide};
    rules.memory.sustained_fraction = 0.75;
    rules.memory.sustained_source = "Tesla M2050, 110 of 148 GB/s in published saxpy runs";
    return rules;
}

constexpr std::array rules{of(0), of(1)};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"c2050", "Tesla C2050", {2, 0}, 14, peak(1500, 384), 768 * kib, 3 * gib, sheet},
    Board{"m2050", "Tesla M2050", {2, 0}, 14, peak(1546, 384), 768 * kib, 3 * gib, sheet},
    Board{"gtx470", "GeForce GTX 470", {2, 0}, 14, 133.9e9, 640 * kib, 2560 * mib, listed},
    Board{"gtx480", "GeForce GTX 480", {2, 0}, 15, 177.4e9, 768 * kib, 3 * gib, listed},
    Board{"gtx570", "GeForce GTX 570", {2, 0}, 15, 152e9, 640 * kib, 2560 * mib, listed},
    Board{"gtx580", "GeForce GTX 580", {2, 0}, 16, 192.4e9, 768 * kib, 3 * gib, listed},
    Board{"quadro6000", "Quadro 6000", {2, 0}, 14, 143.4e9, 768 * kib, 6 * gib, listed},
    Board{"c2070", "Tesla C2070", {2, 0}, 14, 143.4e9, 768 * kib, 6 * gib, listed},
    Board{"c2075", "Tesla C2075", {2, 0}, 14, 150.3e9, 768 * kib, 6 * gib, listed, unknown, "m2075"},
    Board{"m2090", "Tesla M2090", {2, 0}, 16, 177.4e9, 768 * kib, 6 * gib, listed},
    Board{"gtx560ti", "GeForce GTX 560 Ti", {2, 1}, 8, 128.3e9, 512 * kib, 2 * gib, listed},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::fermi
