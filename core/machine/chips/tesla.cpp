// Tesla, 2006: compute capability 1.x, GPUs without caches.
#include "core/machine/generation.h"

namespace coalprof::chips::tesla {

constexpr std::array split{L1Split{16, 0}};

constexpr OccupancyLimits limits(std::uint32_t threads, std::uint32_t registers,
                                 std::uint32_t unit) {
    OccupancyLimits limits{.threads = threads, .blocks = 8, .registers = registers};
    limits.shared_bytes = limits.shared_bytes_per_block = 16 * k;
    limits.threads_per_block = 512;
    limits.registers_per_block = registers;
    limits.registers_per_thread = 124;
    limits.registers_by_block = true;
    limits.register_unit = unit;
    limits.sub_partitions = 1;
    limits.warp_unit = 2;
    limits.shared_unit_bytes = 512;
    limits.source = calculator;
    return limits;
}

constexpr Rules in_order(int minor) {
    Rules rules = documented({1, minor}, "Tesla", guide_4);
    rules.global = GlobalRule::half_warp_in_order;
    rules.transactions = {.request_lanes = {16, 16, 16}, .segment_bytes = {0, 0, 64, 128, 128}};
    rules.shared = {.rule = SharedRule::broadcast_word,
                    .banks = 16,
                    .row_bytes = 64,
                    .lanes = {16, 16, 16},
                    .source = guide_4};
    rules.constant.request_lanes = 16;
    rules.l1.splits = split;
    rules.occupancy = limits(768, 8 * k, 256);
    rules.abilities = {.doubles = minor >= 3,
                       .atomic_bytes = minor == 0   ? 0u
                                       : minor == 1 ? 4u
                                                    : 8u,
                       .float_atomics = false,
                       .double_atomics = false,
                       .managed_memory = false,
                       .grid_blocks = {65535, 65535, 1},
                       .shared_atomics = minor >= 2,
                       .native_shared_atomics = false,
                       .source = abilities_guide};
    rules.memory.fill_bytes = 0;
    rules.memory.source = "no L2; every transaction goes to device memory";
    rules.memory.sustained_fraction = 0.85;
    rules.memory.sustained_source = "GeForce 8800 GTX, 74 of 86.4 GB/s: CUDA Best Practices Guide";
    return rules;
}

constexpr Rules segments(int minor) {
    Rules rules = in_order(minor);
    rules.global = GlobalRule::half_warp_segments;
    rules.transactions = {.request_lanes = {16, 16, 16}, .segment_bytes = {32, 64, 128, 128, 128}};
    rules.occupancy = limits(1024, 16 * k, 512);
    rules.memory.sustained_source = "GeForce GTX 280, 120 of 141.7 GB/s: CUDA Best Practices Guide";
    return rules;
}

constexpr std::array rules{in_order(0), in_order(1), segments(2), segments(3)};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"c870", "Tesla C870", {1, 0}, 16, peak(800, 384), 0, 1536 * mib, sheet},
    Board{"8800gtx", "GeForce 8800 GTX", {1, 0}, 16, 86.4e9, 0, 768 * mib, listed},
    Board{"8800gt", "GeForce 8800 GT", {1, 1}, 14, 57.6e9, 0, 1 * gib, listed},
    Board{"9800gt", "GeForce 9800 GT", {1, 1}, 14, 57.6e9, 0, 1 * gib, listed},
    Board{"c1060", "Tesla C1060", {1, 3}, 30, peak(800, 512), 0, 4 * gib, sheet},
    Board{"gtx260", "GeForce GTX 260", {1, 3}, 24, 111.9e9, 0, 1792 * mib, listed},
    Board{"gtx280", "GeForce GTX 280", {1, 3}, 30, 141.7e9, 0, 1 * gib, listed},
    Board{"gtx285", "GeForce GTX 285", {1, 3}, 30, 159e9, 0, 2 * gib, listed},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::tesla
