// Pascal, 2016: compute capability 6.x.
#include "core/machine/generation.h"

namespace coalprof::chips::pascal {

constexpr std::array split_64_24{L1Split{64, 24}};
constexpr std::array split_96_48{L1Split{96, 48}};

constexpr Rules of_60() {
    Rules rules = sectors_by_parts({6, 0}, "Pascal", split_64_24);
    rules.l1_loads.by_default = true;
    rules.source =
        "CUDA Programming Guide 13, as for 3.x; that L1 keeps loads by default is unverified";
    // Two sub-partitions, but a block must also fit the four of 6.1: hence warp_unit 4.
    rules.occupancy.sub_partitions = 2;
    return rules;
}

constexpr Rules of_61() {
    Rules rules = sectors_by_parts({6, 1}, "Pascal", split_96_48);
    rules.evidence = Evidence::published;
    // Exact there: 79.62 % of 4-byte lanes that begin 12 bytes after a sector. Groups of 8 lanes,
    // which L1 takes one by one (NVIDIA forum 49571), would give 50 %.
    rules.source =
        "nvprof's efficiencies of a GTX 1070 (github.com/sankarmanoj/thrust2D, GameOfLife and "
        "opencv); lanes of 8 and 16 bytes as for 3.x";
    return rules;
}

constexpr Rules of_62() {
    Rules rules = sectors_by_parts({6, 2}, "Pascal", split_64_24);
    rules.occupancy.registers_per_block = 32 * k;
    return rules;
}

constexpr std::array rules{of_60(), of_61(), of_62()};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"p100", "Tesla P100", {6, 0}, 56, peak(715, 4096), 4 * mib, 16 * gib, sheet, 1480, "p100-sxm2,p100-sxm2-16gb"},
    Board{"gp100", "Quadro GP100", {6, 0}, 56, 732.2e9, 4 * mib, 16 * gib, listed, 1443},
    Board{"p100-pcie-12", "Tesla P100 PCIe 12 GB", {6, 0}, 56, 549.1e9, 3 * mib, 12 * gib, listed, unknown, "p100-pcie-12gb"},
    Board{"p100-pcie", "Tesla P100 PCIe", {6, 0}, 56, 732.2e9, 4 * mib, 16 * gib, listed, unknown, "p100-pcie-16gb,p100-pcie-16"},
    Board{"p4", "Tesla P4", {6, 1}, 20, 192.3e9, 2 * mib, 8 * gib, database, 1114},
    Board{"p40", "Tesla P40", {6, 1}, 30, 347.1e9, 3 * mib, 24 * gib, database, 1531},
    Board{"gtx1050", "GeForce GTX 1050", {6, 1}, 5, 112.1e9, 1 * mib, 3 * gib, database, 1455},
    Board{"gtx1050ti", "GeForce GTX 1050 Ti", {6, 1}, 6, 112.1e9, 1 * mib, 4 * gib, database, 1392},
    Board{"gtx1060", "GeForce GTX 1060", {6, 1}, 10, 192.2e9, 1536 * kib, 6 * gib, database, 1709, "geforce gtx 1060 6gb"},
    Board{"gtx1070", "GeForce GTX 1070", {6, 1}, 15, 256.3e9, 2 * mib, 8 * gib, database, 1683},
    Board{"gtx1070ti", "GeForce GTX 1070 Ti", {6, 1}, 19, 256.3e9, 2 * mib, 8 * gib, database, 1683},
    Board{"gtx1080", "GeForce GTX 1080", {6, 1}, 20, 320e9, 2 * mib, 8 * gib, sheet, 1733},
    Board{"gtx1080ti", "GeForce GTX 1080 Ti", {6, 1}, 28, 484.4e9, 2816 * kib, 11 * gib, database, 1582},
    Board{"gt1030", "GeForce GT 1030", {6, 1}, 3, 48.06e9, 512 * kib, 4 * gib, listed, 1468},
    Board{"gt1030-ddr4", "GeForce GT 1030 DDR4", {6, 1}, 3, 16.8e9, 512 * kib, 4 * gib, listed, 1379},
    Board{"mx150", "GeForce MX150", {6, 1}, 3, 48.06e9, 512 * kib, 4 * gib, listed, 1532},
    Board{"gtx1060-3", "GeForce GTX 1060 3 GB", {6, 1}, 9, 192.2e9, 1536 * kib, 3 * gib, listed, 1708},
    Board{"p1000", "Quadro P1000", {6, 1}, 4, 96.13e9, 1 * mib, 4 * gib, listed, 1392},
    Board{"p2000", "Quadro P2000", {6, 1}, 8, 140.2e9, 1280 * kib, 5 * gib, listed, 1480},
    Board{"p4000", "Quadro P4000", {6, 1}, 14, 243.3e9, 2 * mib, 8 * gib, listed, 1480},
    Board{"p5000", "Quadro P5000", {6, 1}, 20, 288.5e9, 2 * mib, 16 * gib, listed, 1733},
    Board{"p6000", "Quadro P6000", {6, 1}, 30, 432.8e9, 3 * mib, 24 * gib, listed, 1645},
    Board{"titanx-pascal", "TITAN X (Pascal)", {6, 1}, 28, 480.4e9, 3 * mib, 12 * gib, listed, 1531},
    Board{"titanxp", "TITAN Xp", {6, 1}, 30, 547.6e9, 3 * mib, 12 * gib, listed, 1582},
    Board{"tx2", "Jetson TX2", {6, 2}, 2, 59.71e9, 512 * kib, 8 * gib, database, 1300},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::pascal
