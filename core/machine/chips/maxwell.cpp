// Maxwell, 2014: compute capability 5.x.
#include "core/machine/generation.h"

namespace coalprof::chips::maxwell {

constexpr std::array split_64_24{L1Split{64, 24}};
constexpr std::array split_96_24{L1Split{96, 24}};

constexpr Rules of(int minor, std::span<const L1Split> split) {
    Rules rules = sectors_by_parts({5, minor}, "Maxwell", split);
    rules.abilities.double_atomics = false;
    return rules;
}

constexpr Rules of_50() {
    Rules rules = of(0, split_64_24);
    rules.l1_loads = {};
    return rules;
}

constexpr Rules of_53() {
    Rules rules = of(3, split_64_24);
    rules.occupancy.registers_per_block = 32 * k;
    return rules;
}

constexpr std::array rules{of_50(), of(2, split_96_24), of_53()};

constexpr std::string_view tegra_x1 =
    "TechPowerUp GPU Database (2026-02); bandwidth: notebookcheck.net, Tegra X1";
// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"gtx750", "GeForce GTX 750", {5, 0}, 4, 80.19e9, 2 * mib, 4 * gib, listed, 1085},
    Board{"gtx750ti", "GeForce GTX 750 Ti", {5, 0}, 5, 86.4e9, 2 * mib, 4 * gib, listed, 1085},
    Board{"m10", "Tesla M10 (one of four)", {5, 0}, 5, 83.2e9, 2 * mib, 8 * gib, listed, 1306, "tesla m10"},
    Board{"m40", "Tesla M40", {5, 2}, 24, peak(3004, 384), 3 * mib, 24 * gib, sheet, 1112},
    Board{"gtx960", "GeForce GTX 960", {5, 2}, 8, 112.2e9, 1 * mib, 4 * gib, listed, 1178},
    Board{"gtx970", "GeForce GTX 970", {5, 2}, 13, 224.4e9, unknown, 8 * gib, listed, 1178},
    Board{"gtx980", "GeForce GTX 980", {5, 2}, 16, 224.4e9, 2 * mib, 8 * gib, listed, 1216},
    Board{"gtx980ti", "GeForce GTX 980 Ti", {5, 2}, 22, 336.6e9, 3 * mib, 6 * gib, listed, 1076},
    Board{"titanx-maxwell", "GeForce GTX TITAN X", {5, 2}, 24, 336.6e9, 3 * mib, 12 * gib, listed, unknown, "titan x (maxwell)"},
    Board{"m6000", "Quadro M6000", {5, 2}, 24, 317.4e9, 3 * mib, 24 * gib, listed, 1114},
    Board{"m4", "Tesla M4", {5, 2}, 8, 88e9, 1 * mib, 4 * gib, listed, 1072},
    Board{"m60", "Tesla M60 (one of two)", {5, 2}, 16, 160.4e9, 2 * mib, 8 * gib, listed, 1178, "tesla m60"},
    Board{"nano", "Jetson Nano", {5, 3}, 1, 25.6e9, 256 * kib, 4 * gib, listed, 921},
    Board{"tx1", "Jetson TX1", {5, 3}, 2, 25.6e9, 256 * kib, 4 * gib, tegra_x1, 998, "tegra x1"},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::maxwell
