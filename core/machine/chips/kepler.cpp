// Kepler, 2012: compute capability 3.x, banks of 8 bytes by choice, an L1 for local memory.
#include "core/machine/generation.h"

namespace coalprof::chips::kepler {

constexpr std::array splits{L1Split{16, 48}, L1Split{32, 32}, L1Split{48, 16}};
constexpr std::array splits_37{L1Split{80, 48}, L1Split{96, 32}, L1Split{112, 16}};

constexpr std::string_view guide =
    "CUDA C Programming Guide, compute capability 3.x; 16-byte lanes in shared memory extrapolated";

constexpr Rules of(int minor) {
    Rules rules = documented({3, minor}, "Kepler", guide);
    rules.global = GlobalRule::lines_or_segments;
    rules.transactions = {.request_lanes = {32, 16, 8}};
    rules.l1_loads = {.fetch_bytes = 128};
    rules.shared = {
        .row_bytes = 256, .lanes = {32, 32, 16}, .has_8_byte_mode = true, .source = guide};
    rules.l1.splits = splits;
    rules.l1.percent_of_largest = false;
    rules.occupancy = occupancy_3x_to_7x(2048, 16, 48, 48);
    rules.abilities = {
        .double_atomics = false, .native_shared_atomics = false, .source = abilities_guide};
    rules.memory.sustained_source = no_fraction;
    return rules;
}

constexpr Rules of_30() {
    Rules rules = of(0);
    rules.occupancy.registers_per_thread = 63;
    rules.occupancy.source = calculator;
    return rules;
}

constexpr Rules of_32() {
    Rules rules = of(2);
    rules.read_only = ReadOnlyPath::texture_cache;
    rules.occupancy.registers_per_block = 32 * k;
    rules.occupancy.source = calculator;
    return rules;
}

// Some boards of 3.5 and all of 3.7 let a program opt in with -dlcm=ca.
constexpr Rules of_35(int minor = 5) {
    Rules rules = of(minor);
    rules.l1_loads.keeps_ca = true;
    rules.read_only = ReadOnlyPath::texture_cache;
    return rules;
}

constexpr Rules of_37() {
    Rules rules = of_35(7);
    rules.l1.splits = splits_37;
    rules.occupancy.shared_bytes = 112 * k;
    rules.occupancy.registers = 128 * k;
    return rules;
}

constexpr std::array rules{of_30(), of_32(), of_35(), of_37()};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"gtx650", "GeForce GTX 650", {3, 0}, 2, 80e9, 256 * kib, 2 * gib, listed, 1058},
    Board{"gtx660", "GeForce GTX 660", {3, 0}, 5, 144.2e9, 384 * kib, 3 * gib, listed, 1032},
    Board{"gtx670", "GeForce GTX 670", {3, 0}, 7, 192.3e9, 512 * kib, 4 * gib, listed, 980},
    Board{"gtx680", "GeForce GTX 680", {3, 0}, 8, 192.3e9, 512 * kib, 4 * gib, listed, 1058},
    Board{"gtx760", "GeForce GTX 760", {3, 0}, 6, 192.3e9, 512 * kib, 4 * gib, listed, 1032},
    Board{"gtx770", "GeForce GTX 770", {3, 0}, 8, 224.4e9, 512 * kib, 4 * gib, listed, 1085},
    Board{"k10", "Tesla K10 (one of two)", {3, 0}, 8, 160e9, 512 * kib, 4 * gib, listed, 745, "tesla k10"},
    Board{"k20", "Tesla K20", {3, 5}, 13, peak(2600, 320), 1280 * kib, 5 * gib, sheet, 706},
    Board{"k40", "Tesla K40", {3, 5}, 15, peak(3004, 384), 1536 * kib, 12 * gib, sheet, 876},
    Board{"gtx780", "GeForce GTX 780", {3, 5}, 12, 288.4e9, 1536 * kib, 6 * gib, listed, 902},
    Board{"gtx780ti", "GeForce GTX 780 Ti", {3, 5}, 15, 336.6e9, 1536 * kib, 6 * gib, listed, 928},
    Board{"gtxtitan", "GeForce GTX TITAN", {3, 5}, 14, 288.4e9, 1536 * kib, 6 * gib, listed, 876},
    Board{"gtxtitanblack", "GeForce GTX TITAN Black", {3, 5}, 15, 336e9, 1536 * kib, 6 * gib, listed, 980, "titan black"},
    Board{"k20x", "Tesla K20X", {3, 5}, 14, 249.6e9, 1536 * kib, 6 * gib, listed, 732, "k20xm"},
    Board{"k6000", "Quadro K6000", {3, 5}, 15, 288.4e9, 1536 * kib, 12 * gib, listed, 902},
    Board{"k80", "Tesla K80 (one of two)", {3, 7}, 13, peak(2505, 384), 1536 * kib, 12 * gib, sheet, 824, "tesla k80"},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::kepler
