// Turing, 2018: compute capability 7.5.
#include "core/machine/generation.h"

namespace coalprof::chips::turing {

constexpr auto splits = unified(96, {32, 64});

constexpr Rules of_75() {
    Rules rules = sectored({7, 5}, "Turing", splits, occupancy_3x_to_7x(1024, 16, 64, 64));
    rules.memory.fill_settable = false;
    return rules;
}

constexpr std::array rules{of_75()};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"t4", "Tesla T4", {7, 5}, 40, peak(5001, 256), 4 * mib, 16 * gib, sheet, 1590},
    Board{"rtx2060", "GeForce RTX 2060", {7, 5}, 30, 336e9, 3 * mib, 12 * gib, database, 1680},
    Board{"rtx2060s", "GeForce RTX 2060 SUPER", {7, 5}, 34, 448e9, 4 * mib, 8 * gib, database, 1650},
    Board{"rtx2070", "GeForce RTX 2070", {7, 5}, 36, 448e9, 4 * mib, 8 * gib, database, 1620},
    Board{"rtx2070s", "GeForce RTX 2070 SUPER", {7, 5}, 40, peak(7001, 256), 4 * mib, 8 * gib, sheet, 1770},
    Board{"rtx2080", "GeForce RTX 2080", {7, 5}, 46, 448e9, 4 * mib, 8 * gib, database, 1710},
    Board{"rtx2080s", "GeForce RTX 2080 SUPER", {7, 5}, 48, 495.9e9, 4 * mib, 8 * gib, database, 1815},
    Board{"rtx2080ti", "GeForce RTX 2080 Ti", {7, 5}, 68, 616e9, 5632 * kib, 11 * gib, database, 1545},
    Board{"titanrtx", "Titan RTX", {7, 5}, 72, 672e9, 6 * mib, 24 * gib, database, 1770},
    Board{"gtx1630", "GeForce GTX 1630", {7, 5}, 8, 96e9, 1 * mib, 4 * gib, listed, 1785},
    Board{"gtx1650", "GeForce GTX 1650", {7, 5}, 14, 128.1e9, 1 * mib, 4 * gib, listed, 1665},
    Board{"gtx1650-gddr6", "GeForce GTX 1650 GDDR6", {7, 5}, 14, 192e9, 1 * mib, 4 * gib, listed, 1590},
    Board{"gtx1650s", "GeForce GTX 1650 SUPER", {7, 5}, 20, 192e9, 1 * mib, 4 * gib, listed, 1725},
    Board{"gtx1660", "GeForce GTX 1660", {7, 5}, 22, 192.1e9, 1536 * kib, 6 * gib, listed, 1785},
    Board{"gtx1660s", "GeForce GTX 1660 SUPER", {7, 5}, 22, 336e9, 1536 * kib, 6 * gib, listed, 1785},
    Board{"gtx1660ti", "GeForce GTX 1660 Ti", {7, 5}, 24, 288e9, 1536 * kib, 6 * gib, listed, 1770},
    Board{"t400", "T400", {7, 5}, 6, 80e9, 1 * mib, 4 * gib, listed, 1425},
    Board{"t600", "T600", {7, 5}, 10, 160e9, 1 * mib, 4 * gib, listed, 1335},
    Board{"t1000", "T1000", {7, 5}, 14, 160e9, 1 * mib, 8 * gib, listed, 1395},
    Board{"rtx4000", "Quadro RTX 4000", {7, 5}, 36, 416e9, 4 * mib, 8 * gib, listed, 1545},
    Board{"rtx5000", "Quadro RTX 5000", {7, 5}, 48, 448e9, 4 * mib, 16 * gib, listed, 1815},
    Board{"rtx6000", "Quadro RTX 6000", {7, 5}, 72, 672e9, 6 * mib, 24 * gib, listed, 1770},
    Board{"rtx8000", "Quadro RTX 8000", {7, 5}, 72, 672e9, 6 * mib, 48 * gib, listed, 1770},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::turing
