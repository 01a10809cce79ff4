// Ada, 2022: compute capability 8.9.
#include "core/machine/generation.h"

namespace coalprof::chips::ada {

constexpr Rules of_89() {
    Rules rules = sectored({8, 9}, "Ada", split_100, occupancy_8x_on(1536, 24, 100));
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst): 32 bytes on an L40, 64 on an L40S";
    return rules;
}

constexpr std::array rules{of_89()};

constexpr std::string_view database_l40s =
    "TechPowerUp GPU Database (2025-12); its size of L2 is half that of the L40, whose chip it has";
constexpr std::string_view l4_cores =
    "TechPowerUp GPU Database (2025-12); multiprocessors from its 7424 cores, of 128 each";
// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"l4", "L4", {8, 9}, 58, 300.1e9, 48 * mib, 24 * gib, l4_cores, 2040},
    Board{"l40", "L40", {8, 9}, 142, 864e9, 96 * mib, 48 * gib, database, 2490},
    Board{"l40s", "L40S", {8, 9}, 142, 864e9, unknown, 48 * gib, database_l40s, 2520},
    Board{"rtx6000ada", "RTX 6000 Ada Generation", {8, 9}, 142, 960e9, 96 * mib, 48 * gib, database, 2505, "rtx 6000 ada"},
    Board{"rtx4060", "GeForce RTX 4060", {8, 9}, 24, 272e9, 24 * mib, 8 * gib, database, 2460},
    Board{"rtx4060ti", "GeForce RTX 4060 Ti", {8, 9}, 34, 288e9, 32 * mib, 16 * gib, database, 2535},
    Board{"rtx4070", "GeForce RTX 4070", {8, 9}, 46, 504.2e9, 36 * mib, 12 * gib, database, 2475},
    Board{"rtx4070s", "GeForce RTX 4070 SUPER", {8, 9}, 56, 504.2e9, 48 * mib, 12 * gib, database, 2475},
    Board{"rtx4070ti", "GeForce RTX 4070 Ti", {8, 9}, 60, 504.2e9, 48 * mib, 12 * gib, database, 2610},
    Board{"rtx4070tis", "GeForce RTX 4070 Ti SUPER", {8, 9}, 66, 672.3e9, 48 * mib, 16 * gib, database, 2610},
    Board{"rtx4080", "GeForce RTX 4080", {8, 9}, 76, 716.8e9, 64 * mib, 16 * gib, database, 2505},
    Board{"rtx4080s", "GeForce RTX 4080 SUPER", {8, 9}, 80, 736.3e9, 64 * mib, 16 * gib, database, 2550},
    Board{"rtx4090", "GeForce RTX 4090", {8, 9}, 128, peak(10501, 384), 72 * mib, 24 * gib, sheet, 2520},
    Board{"l20", "L20", {8, 9}, 92, 864e9, 96 * mib, 48 * gib, listed, 2520},
    Board{"rtx4000ada", "RTX 4000 Ada Generation", {8, 9}, 48, 360e9, 48 * mib, 20 * gib, listed, 2175, "rtx 4000 ada"},
    Board{"rtx4500ada", "RTX 4500 Ada Generation", {8, 9}, 60, 432e9, 48 * mib, 24 * gib, listed, 2580, "rtx 4500 ada"},
    Board{"rtx5000ada", "RTX 5000 Ada Generation", {8, 9}, 100, 576e9, 72 * mib, 32 * gib, listed, 2550, "rtx 5000 ada"},
    Board{"rtx4050-laptop", "GeForce RTX 4050 Laptop GPU", {8, 9}, 20, 192e9, 12 * mib, 6 * gib, listed},
    Board{"rtx4060-laptop", "GeForce RTX 4060 Laptop GPU", {8, 9}, 24, 256e9, 32 * mib, 8 * gib, listed},
    Board{"rtx4070-laptop", "GeForce RTX 4070 Laptop GPU", {8, 9}, 36, 256e9, 32 * mib, 8 * gib, listed},
    Board{"rtx4080-laptop", "GeForce RTX 4080 Laptop GPU", {8, 9}, 58, 432e9, 48 * mib, 12 * gib, listed},
    Board{"rtx4090-laptop", "GeForce RTX 4090 Laptop GPU", {8, 9}, 76, 576e9, 64 * mib, 16 * gib, listed},
    Board{"rtx4090d", "GeForce RTX 4090 D", {8, 9}, 114, 1008e9, 72 * mib, 24 * gib, listed, 2520},
};
// clang-format on

Generation generation() { return {rules, boards}; }

}  // namespace coalprof::chips::ada
