#include <algorithm>
#include <array>

#include "core/machine/board_facts.h"

namespace coalprof {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint32_t not_told = 0;  // multiprocessors that no source tells
constexpr std::nullopt_t unknown = std::nullopt;

// Where the values of a row come from. What its source does not tell, or another contradicts, is
// unknown.
constexpr std::string_view sheet = "data sheet; TechPowerUp GPU Database (2025-12) says the same";
constexpr std::string_view database =
    "TechPowerUp GPU Database (techpowerup.com/gpu-specs, 2025-12)";
constexpr std::string_view database_l40s =
    "TechPowerUp GPU Database (2025-12); its size of L2 is half that of the L40, whose chip it has";
constexpr std::string_view database_nvl =
    "TechPowerUp GPU Database (2025-12); its size of L2 is that of boards with less memory";
constexpr std::string_view l4_cores =
    "TechPowerUp GPU Database (2025-12); multiprocessors from its 7424 cores, of 128 each";
constexpr std::string_view a100_guide =
    "TechPowerUp GPU Database (2025-12); L2: NVIDIA Ampere GPU Architecture Tuning Guide";
constexpr std::string_view orin_brief = "NVIDIA Jetson AGX Orin Series technical brief";
constexpr std::string_view tvm_thor =
    "data sheet; L2: what a Thor reports (github.com/apache/tvm/pull/20259)";
constexpr std::string_view wikipedia =
    "Wikipedia, List of Nvidia graphics processing units (bandwidth)";
constexpr std::string_view verda =
    "verda.com/blog/gb300-nvl72-architecture (bandwidth); multiprocessors and clock of the B300: "
    "TechPowerUp GPU Database (2025-12)";
constexpr std::string_view gh200_news = "NVIDIA's announcement of 2023-08 (bandwidth)";
constexpr std::string_view h20_reports =
    "reports of its data sheet and of a Geekbench run (bandwidth, multiprocessors)";
constexpr std::string_view queried_h200 =
    "multiprocessors, memory clock, bus and L2 as an H200 reports them; clock: TechPowerUp GPU "
    "Database (2025-12)";
constexpr std::string_view queried_b200 =
    "multiprocessors, memory clock, bus and L2 as a B200 reports them "
    "(github.com/pytorch/ao/pull/4002); clock: TechPowerUp GPU Database (2025-12)";

// Double data rate: two transfers per cycle of the memory clock, as the CUDA device query counts.
constexpr double peak(double memory_clock_mhz, double bus_bits) {
    return 2 * memory_clock_mhz * 1e6 * bus_bits / 8;
}

struct Row {
    Board board;
    std::optional<std::uint32_t> boost_clock_mhz;
    std::string_view aliases;
};

// Key, name, compute capability, multiprocessors, peak bytes per second, L2, source, boost clock in
// MHz, other names. By compute capability.
// clang-format off
constexpr std::array rows{
    Row{{"c870", "Tesla C870", {1, 0}, 16, peak(800, 384), 0, sheet}, unknown, ""},
    Row{{"c1060", "Tesla C1060", {1, 3}, 30, peak(800, 512), 0, sheet}, unknown, ""},
    Row{{"c2050", "Tesla C2050", {2, 0}, 14, peak(1500, 384), 768 * kib, sheet}, unknown, ""},
    Row{{"m2050", "Tesla M2050", {2, 0}, 14, peak(1546, 384), 768 * kib, sheet}, unknown, ""},
    Row{{"k20", "Tesla K20", {3, 5}, 13, peak(2600, 320), 1280 * kib, sheet}, 706, ""},
    Row{{"k40", "Tesla K40", {3, 5}, 15, peak(3004, 384), 1536 * kib, sheet}, 876, ""},
    Row{{"k80", "Tesla K80 (one of two)", {3, 7}, 13, peak(2505, 384), 1536 * kib, sheet}, 824, "tesla k80"},
    Row{{"m40", "Tesla M40", {5, 2}, 24, peak(3004, 384), 3 * mib, sheet}, 1112, ""},
    Row{{"p4", "Tesla P4", {6, 1}, 20, 192.3e9, 2 * mib, database}, 1114, ""},
    Row{{"p40", "Tesla P40", {6, 1}, 30, 347.1e9, 3 * mib, database}, 1531, ""},
    Row{{"p100", "Tesla P100", {6, 0}, 56, peak(715, 4096), 4 * mib, sheet}, 1480, "p100-sxm2,p100-sxm2-16gb"},
    Row{{"gtx1050", "GeForce GTX 1050", {6, 1}, 5, 112.1e9, 1 * mib, database}, 1455, ""},
    Row{{"gtx1050ti", "GeForce GTX 1050 Ti", {6, 1}, 6, 112.1e9, 1 * mib, database}, 1392, ""},
    Row{{"gtx1060", "GeForce GTX 1060", {6, 1}, 10, 192.2e9, 1536 * kib, database}, 1709, "geforce gtx 1060 6gb"},
    Row{{"gtx1070", "GeForce GTX 1070", {6, 1}, 15, 256.3e9, 2 * mib, database}, 1683, ""},
    Row{{"gtx1070ti", "GeForce GTX 1070 Ti", {6, 1}, 19, 256.3e9, 2 * mib, database}, 1683, ""},
    Row{{"gtx1080", "GeForce GTX 1080", {6, 1}, 20, 320e9, 2 * mib, sheet}, 1733, ""},
    Row{{"gtx1080ti", "GeForce GTX 1080 Ti", {6, 1}, 28, 484.4e9, 2816 * kib, database}, 1582, ""},
    Row{{"tx2", "Jetson TX2", {6, 2}, 2, 59.71e9, 512 * kib, database}, 1300, ""},
    Row{{"titanv", "Titan V", {7, 0}, 80, peak(848, 3072), 4608 * kib, database}, 1455, ""},
    Row{{"v100", "Tesla V100", {7, 0}, 80, peak(877, 4096), 6 * mib, sheet}, 1530, "v100-sxm2,v100-sxm2-16gb,v100-sxm2-32gb"},
    Row{{"v100-pcie", "Tesla V100 PCIe", {7, 0}, 80, peak(877, 4096), 6 * mib, database}, 1380, "v100-pcie-16gb,v100-pcie-32gb"},
    Row{{"v100s", "Tesla V100S", {7, 0}, 80, peak(1107, 4096), 6 * mib, database}, 1597, "v100s-pcie-32gb"},
    Row{{"xavier", "Jetson AGX Xavier", {7, 2}, 8, 137e9, 512 * kib, sheet}, 1377, ""},
    Row{{"t4", "Tesla T4", {7, 5}, 40, peak(5001, 256), 4 * mib, sheet}, 1590, ""},
    Row{{"rtx2060", "GeForce RTX 2060", {7, 5}, 30, 336e9, 3 * mib, database}, 1680, ""},
    Row{{"rtx2060s", "GeForce RTX 2060 SUPER", {7, 5}, 34, 448e9, 4 * mib, database}, 1650, ""},
    Row{{"rtx2070", "GeForce RTX 2070", {7, 5}, 36, 448e9, 4 * mib, database}, 1620, ""},
    Row{{"rtx2070s", "GeForce RTX 2070 SUPER", {7, 5}, 40, peak(7001, 256), 4 * mib, sheet}, 1770, ""},
    Row{{"rtx2080", "GeForce RTX 2080", {7, 5}, 46, 448e9, 4 * mib, database}, 1710, ""},
    Row{{"rtx2080s", "GeForce RTX 2080 SUPER", {7, 5}, 48, 495.9e9, 4 * mib, database}, 1815, ""},
    Row{{"rtx2080ti", "GeForce RTX 2080 Ti", {7, 5}, 68, 616e9, 5632 * kib, database}, 1545, ""},
    Row{{"titanrtx", "Titan RTX", {7, 5}, 72, 672e9, 6 * mib, database}, 1770, ""},
    Row{{"a30", "A30", {8, 0}, 56, 933.1e9, 24 * mib, database}, 1440, ""},
    Row{{"a100-40", "A100 SXM 40 GB", {8, 0}, 108, peak(1215, 5120), 40 * mib, sheet}, 1410, "a100 40 gb,a100-sxm-40,a100-sxm4-40gb"},
    Row{{"a100-40-pcie", "A100 PCIe 40 GB", {8, 0}, 108, peak(1215, 5120), 40 * mib, database}, 1410, "a100-pcie-40,a100-pcie-40gb"},
    Row{{"a100-80", "A100 SXM 80 GB", {8, 0}, 108, peak(1593, 5120), 40 * mib, sheet}, 1410, "a100,a100-sxm,a100 80 gb,a100-sxm-80,a100-sxm4-80gb"},
    Row{{"a100-80-pcie", "A100 PCIe 80 GB", {8, 0}, 108, peak(1512, 5120), 40 * mib, a100_guide}, 1410, "a100-pcie,a100-pcie-80,a100 80gb pcie"},
    Row{{"a10", "A10", {8, 6}, 72, 600.2e9, 6 * mib, database}, 1695, ""},
    Row{{"a40", "A40", {8, 6}, 84, 695.8e9, 6 * mib, database}, 1740, ""},
    Row{{"rtxa6000", "RTX A6000", {8, 6}, 84, 768e9, 6 * mib, database}, 1800, ""},
    Row{{"rtx3050", "GeForce RTX 3050", {8, 6}, 20, 224e9, 2 * mib, database}, 1777, ""},
    Row{{"rtx3060", "GeForce RTX 3060", {8, 6}, 28, 360e9, 3 * mib, database}, 1777, ""},
    Row{{"rtx3060ti", "GeForce RTX 3060 Ti", {8, 6}, 38, 448e9, 4 * mib, database}, 1665, ""},
    Row{{"rtx3070", "GeForce RTX 3070", {8, 6}, 46, 448e9, 4 * mib, database}, 1725, ""},
    Row{{"rtx3070ti", "GeForce RTX 3070 Ti", {8, 6}, 48, 608.3e9, 4 * mib, database}, 1770, ""},
    Row{{"rtx3080", "GeForce RTX 3080", {8, 6}, 68, 760.3e9, 5 * mib, database}, 1710, "geforce rtx 3080 10gb"},
    Row{{"rtx3080-12", "GeForce RTX 3080 12 GB", {8, 6}, 70, 912.4e9, 6 * mib, database}, 1710, ""},
    Row{{"rtx3080ti", "GeForce RTX 3080 Ti", {8, 6}, 80, 912.4e9, 6 * mib, database}, 1665, ""},
    Row{{"rtx3090", "GeForce RTX 3090", {8, 6}, 82, peak(9751, 384), 6 * mib, sheet}, 1695, ""},
    Row{{"rtx3090ti", "GeForce RTX 3090 Ti", {8, 6}, 84, 1008e9, 6 * mib, database}, 1860, ""},
    Row{{"orin", "Jetson AGX Orin", {8, 7}, 16, 204.8e9, 4 * mib, orin_brief}, 1300, ""},
    Row{{"l4", "L4", {8, 9}, 58, 300.1e9, 48 * mib, l4_cores}, 2040, ""},
    Row{{"l40", "L40", {8, 9}, 142, 864e9, 96 * mib, database}, 2490, ""},
    Row{{"l40s", "L40S", {8, 9}, 142, 864e9, unknown, database_l40s}, 2520, ""},
    Row{{"rtx6000ada", "RTX 6000 Ada Generation", {8, 9}, 142, 960e9, 96 * mib, database}, 2505, "rtx 6000 ada"},
    Row{{"rtx4060", "GeForce RTX 4060", {8, 9}, 24, 272e9, 24 * mib, database}, 2460, ""},
    Row{{"rtx4060ti", "GeForce RTX 4060 Ti", {8, 9}, 34, 288e9, 32 * mib, database}, 2535, ""},
    Row{{"rtx4070", "GeForce RTX 4070", {8, 9}, 46, 504.2e9, 36 * mib, database}, 2475, ""},
    Row{{"rtx4070s", "GeForce RTX 4070 SUPER", {8, 9}, 56, 504.2e9, 48 * mib, database}, 2475, ""},
    Row{{"rtx4070ti", "GeForce RTX 4070 Ti", {8, 9}, 60, 504.2e9, 48 * mib, database}, 2610, ""},
    Row{{"rtx4070tis", "GeForce RTX 4070 Ti SUPER", {8, 9}, 66, 672.3e9, 48 * mib, database}, 2610, ""},
    Row{{"rtx4080", "GeForce RTX 4080", {8, 9}, 76, 716.8e9, 64 * mib, database}, 2505, ""},
    Row{{"rtx4080s", "GeForce RTX 4080 SUPER", {8, 9}, 80, 736.3e9, 64 * mib, database}, 2550, ""},
    Row{{"rtx4090", "GeForce RTX 4090", {8, 9}, 128, peak(10501, 384), 72 * mib, sheet}, 2520, ""},
    Row{{"h100", "H100 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, sheet}, 1980, "h100-sxm,h100-sxm5,h100 80gb hbm3"},
    Row{{"h100-pcie", "H100 PCIe", {9, 0}, 114, peak(1593, 5120), 50 * mib, sheet}, 1755, ""},
    Row{{"h100-nvl", "H100 NVL", {9, 0}, 132, peak(2620, 6016), unknown, database_nvl}, 1785, ""},
    Row{{"h800", "H800 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, database}, 1755, "h800-sxm"},
    Row{{"h20", "H20", {9, 0}, 78, 4e12, unknown, h20_reports}, unknown, ""},
    Row{{"gh200", "GH200 96 GB", {9, 0}, not_told, 4e12, unknown, gh200_news}, unknown, "gh200-96,gh200 480gb"},
    Row{{"h200", "NVIDIA H200", {9, 0}, 132, peak(3201, 6016), 60 * mib, queried_h200}, 1980, "h200-sxm"},
    Row{{"b100", "B100", {10, 0}, not_told, 8e12, unknown, wikipedia}, unknown, ""},
    Row{{"b200", "B200", {10, 0}, 148, peak(3996, 7680), 129536 * kib, queried_b200}, 1965, ""},
    Row{{"gb200", "GB200 (one GPU)", {10, 0}, not_told, 7.7e12, unknown, verda}, unknown, "gb200"},
    Row{{"b300", "B300", {10, 3}, 148, 7.7e12, unknown, verda}, 2032, ""},
    Row{{"gb300", "GB300 (one GPU)", {10, 3}, not_told, 8e12, unknown, verda}, unknown, "gb300"},
    Row{{"thor", "Jetson AGX Thor", {11, 0}, 20, 273e9, 32 * mib, tvm_thor}, unknown, "jetson t5000"},
    Row{{"rtx5060", "GeForce RTX 5060", {12, 0}, 30, 448e9, 32 * mib, database}, 2497, ""},
    Row{{"rtx5060ti", "GeForce RTX 5060 Ti", {12, 0}, 36, 448e9, 32 * mib, database}, 2572, ""},
    Row{{"rtx5070", "GeForce RTX 5070", {12, 0}, 48, 672e9, 48 * mib, database}, 2512, ""},
    Row{{"rtx5070ti", "GeForce RTX 5070 Ti", {12, 0}, 70, 896e9, 48 * mib, database}, 2452, ""},
    Row{{"rtx5080", "GeForce RTX 5080", {12, 0}, 84, 960e9, 64 * mib, database}, 2617, ""},
    Row{{"rtx5090", "GeForce RTX 5090", {12, 0}, 170, peak(14000, 512), 96 * mib, sheet}, 2407, ""},
    Row{{"gb10", "GB10 (DGX Spark)", {12, 1}, 48, 273e9, unknown, database}, 2418, "dgx spark"},
};
// clang-format on

constexpr auto table = [] {
    std::array<Board, rows.size()> boards{};
    std::ranges::transform(rows, boards.begin(), &Row::board);
    return boards;
}();

}  // namespace

std::span<const Board> all_boards() { return table; }

BoardFacts facts_of(const Board& board) {
    const auto row =
        std::ranges::find(rows, board.key, [](const Row& each) { return each.board.key; });
    if (row == rows.end()) return {};
    return {.boost_clock_mhz = row->boost_clock_mhz, .aliases = row->aliases};
}

}  // namespace coalprof
