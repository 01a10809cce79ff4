#include <array>

#include "core/machine/machine.h"

namespace coalprof {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

constexpr std::string_view data_sheet = "data sheet";
constexpr std::string_view queried_h200 =
    "multiprocessors, memory clock, bus and L2 as an H200 reports them";

// Double data rate: two transfers per cycle of the memory clock, as the CUDA device query counts.
constexpr double peak(double memory_clock_mhz, double bus_bits) {
    return 2 * memory_clock_mhz * 1e6 * bus_bits / 8;
}

constexpr std::array table{
    Board{"c870", "Tesla C870", {1, 0}, 16, peak(800, 384), 0, data_sheet},
    Board{"c1060", "Tesla C1060", {1, 3}, 30, peak(800, 512), 0, data_sheet},
    Board{"c2050", "Tesla C2050", {2, 0}, 14, peak(1500, 384), 768 * kib, data_sheet},
    Board{"m2050", "Tesla M2050", {2, 0}, 14, peak(1546, 384), 768 * kib, data_sheet},
    Board{"k20", "Tesla K20", {3, 5}, 13, peak(2600, 320), 1280 * kib, data_sheet},
    Board{"k40", "Tesla K40", {3, 5}, 15, peak(3004, 384), 1536 * kib, data_sheet},
    Board{"k80", "Tesla K80 (one of two)", {3, 7}, 13, peak(2505, 384), 1536 * kib, data_sheet},
    Board{"m40", "Tesla M40", {5, 2}, 24, peak(3004, 384), 3 * mib, data_sheet},
    Board{"p100", "Tesla P100", {6, 0}, 56, peak(715, 4096), 4 * mib, data_sheet},
    Board{"gtx1080", "GeForce GTX 1080", {6, 1}, 20, 320e9, 2 * mib, data_sheet},
    Board{"v100", "Tesla V100", {7, 0}, 80, peak(877, 4096), 6 * mib, data_sheet},
    Board{"xavier", "Jetson AGX Xavier", {7, 2}, 8, 137e9, 512 * kib, data_sheet},
    Board{"t4", "Tesla T4", {7, 5}, 40, peak(5001, 256), 4 * mib, data_sheet},
    Board{"rtx2070s", "GeForce RTX 2070 SUPER", {7, 5}, 40, peak(7001, 256), 4 * mib, data_sheet},
    Board{"a100-40", "A100 40 GB", {8, 0}, 108, peak(1215, 5120), 40 * mib, data_sheet},
    Board{"a100-80", "A100 80 GB", {8, 0}, 108, peak(1593, 5120), 40 * mib, data_sheet},
    Board{"rtx3090", "GeForce RTX 3090", {8, 6}, 82, peak(9751, 384), 6 * mib, data_sheet},
    Board{"orin", "Jetson AGX Orin", {8, 7}, 16, 204.8e9, 4 * mib, data_sheet},
    Board{"rtx4090", "GeForce RTX 4090", {8, 9}, 128, peak(10501, 384), 72 * mib, data_sheet},
    Board{"h100", "H100 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, data_sheet},
    Board{"h100-pcie", "H100 PCIe", {9, 0}, 114, peak(1593, 5120), 50 * mib, data_sheet},
    Board{"h200", "NVIDIA H200", {9, 0}, 132, peak(3201, 6016), 60 * mib, queried_h200},
    Board{"b200", "B200", {10, 0}, 148, 8e12, 126 * mib, data_sheet},
    Board{"thor", "Jetson AGX Thor", {11, 0}, 20, 273e9, std::nullopt, data_sheet},
    Board{"rtx5090", "GeForce RTX 5090", {12, 0}, 170, peak(14000, 512), 96 * mib, data_sheet},
    Board{"gb10", "GB10 (DGX Spark)", {12, 1}, 48, 273e9, 24 * mib, data_sheet},
};

}  // namespace

std::span<const Board> all_boards() { return table; }

}  // namespace coalprof
