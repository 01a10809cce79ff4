// A generation of GPUs as data: the rules of its compute capabilities, its boards, and the rates of
// measured ones. Each file of chips/ is one, and nothing else names them: the build lists the
// folder.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"
#include "core/machine/rates.h"
#include "core/machine/rules.h"

namespace coalprof {

struct MeasuredBoard {
    std::string_view board;  // its key
    Rates rates;
};

// All in the order of compute capabilities.
struct Generation {
    std::span<const Rules> rules;
    std::span<const Board> boards;
    std::span<const MeasuredBoard> measured = {};
};

// Oldest first.
const std::vector<Generation>& all_generations();

// Values that several generations share.
namespace chips {

inline constexpr std::uint32_t k = 1024;
inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

// A value that no source gives, or two give differently.
inline constexpr std::nullopt_t unknown = std::nullopt;
inline constexpr std::uint32_t unknown_count = 0;  // stands for a number of multiprocessors

// Sources of rules.
inline constexpr std::string_view guide_4 = "CUDA C Programming Guide 4.2, appendix F";
inline constexpr std::string_view guide_13 = "CUDA Programming Guide 13, compute capabilities";
inline constexpr std::string_view abilities_guide =
    "CUDA C Programming Guide 4.2, appendix F; CUDA Programming Guide 13, compute capabilities and "
    "unified memory";
inline constexpr std::string_view ncu_guide =
    "Nsight Compute, Kernel Profiling Guide, memory tables";
inline constexpr std::string_view calculator = "CUDA Occupancy Calculator";
inline constexpr std::string_view no_measurement = "not measured; assumed";
inline constexpr std::string_view no_fraction =
    "not measured; the middle of 0.75 to 0.86 seen elsewhere";
// Sources of boards. Memory is the largest that the TechPowerUp GPU Database lists under a name
// (partners doubled NVIDIA's on many boards of 1.x to 5.x). Where it lacks the name (10.0, 10.3,
// laptops, C1060) it is what NVIDIA announced, compared with no list.
inline constexpr std::string_view sheet =
    "data sheet; TechPowerUp GPU Database (2025-12) says the same";
inline constexpr std::string_view database =
    "TechPowerUp GPU Database (techpowerup.com/gpu-specs, 2025-12)";
// A copy of that list; multiprocessors of 3.x from its cores, 192 each.
inline constexpr std::string_view listed =
    "TechPowerUp GPU Database, as github.com/reox007/RightNow-GPU-Database has it (2026-02)";

// Double data rate: two transfers per cycle of the memory clock, as the CUDA device query counts.
constexpr double peak(double memory_clock_mhz, double bus_bits) {
    return 2 * memory_clock_mhz * 1e6 * bus_bits / 8;
}

// Ways to divide one memory into shared memory and L1.
template <std::size_t n>
constexpr std::array<L1Split, n> unified(std::uint32_t all_kib, const std::uint32_t (&shared)[n]) {
    std::array<L1Split, n> splits{};
    for (std::size_t i = 0; i < n; ++i) splits[i] = {shared[i], all_kib - shared[i]};
    return splits;
}
inline constexpr auto split_a100 = unified(192, {0, 8, 16, 32, 64, 100, 132, 164});
inline constexpr auto split_100 = unified(128, {0, 8, 16, 32, 64, 100});
inline constexpr auto split_hopper = unified(256, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228});

constexpr OccupancyLimits occupancy_3x_to_7x(std::uint32_t threads, std::uint32_t blocks,
                                             std::uint32_t shared_kib,
                                             std::uint32_t shared_per_block_kib) {
    OccupancyLimits limits{.threads = threads, .blocks = blocks, .registers = 64 * k};
    limits.shared_bytes = shared_kib * k;
    limits.shared_bytes_per_block = shared_per_block_kib * k;
    limits.registers_per_block = 64 * k;
    limits.source = "cuda_occupancy.h of CUDA 13.0";
    return limits;
}

// From 8.0 on the system keeps 1 KB of every block's shared memory.
constexpr OccupancyLimits occupancy_8x_on(std::uint32_t threads, std::uint32_t blocks,
                                          std::uint32_t shared_kib) {
    OccupancyLimits limits = occupancy_3x_to_7x(threads, blocks, shared_kib, shared_kib - 1);
    limits.shared_unit_bytes = 128;
    limits.shared_reserved_bytes = 1 * k;
    return limits;
}

// From 9.0 on named barriers limit too.
constexpr OccupancyLimits with_barriers(OccupancyLimits limits, std::uint32_t barriers) {
    limits.barriers = barriers;
    return limits;
}

// Rules that one guide states, to be filled in.
constexpr Rules documented(ComputeCapability cc, std::string_view family, std::string_view guide) {
    Rules rules;
    rules.cc = cc;
    rules.family = family;
    rules.source = rules.shared.source = rules.constant.source = rules.local.source = guide;
    rules.l1.source = rules.memory.source = guide;
    rules.abilities.source = abilities_guide;
    return rules;
}

// Maxwell and Pascal: sectors of parts of a warp, an L1 beside the texture units.
constexpr Rules sectors_by_parts(ComputeCapability cc, std::string_view family,
                                 std::span<const L1Split> split) {
    Rules rules = documented(cc, family, guide_13);
    rules.global = GlobalRule::lines_or_segments;
    // Published throughputs of naive transposes on 6.1, whose lanes l and l + 16 store to one
    // sector, are those of twice the sectors of the warp; nvprof joins lanes side by side.
    rules.transactions = {.request_lanes = {32, 16, 8}, .store_parts = {8, 4, 2}};
    rules.l1_loads = {.keeps_ca = true};
    rules.read_only = ReadOnlyPath::texture_cache;
    rules.source =
        "CUDA Programming Guide 13, compute capability 5.x: as 3.x; so count nvprof's efficiencies "
        "of a GTX 1070 (6.1)";
    // The author of an assembler found no conflict where lanes n and n ^ 1, or n and n ^ 2, agree,
    // and some in the same 128 bytes in lane order; he counted no passes.
    rules.shared = {.may_pack_pairs = true,
                    .source =
                        "CUDA Programming Guide 13, compute capabilities; wide loads whose "
                        "neighbours agree: wiki of github.com/NervanaSystems/maxas, SGEMM"};
    rules.l1.splits = split;
    rules.occupancy = occupancy_3x_to_7x(2048, 32, split.front().shared_kib, 48);
    rules.memory.sustained_source = no_fraction;
    return rules;
}

// The sectored L1 of Volta and later generations.
constexpr Rules sectored(ComputeCapability cc, std::string_view family,
                         std::span<const L1Split> splits, const OccupancyLimits& occupancy) {
    Rules rules = documented(cc, family, guide_13);
    rules.l1_loads = {.keeps_ca = true, .keeps_cs = true, .by_default = true};
    rules.read_only = ReadOnlyPath::l1;
    rules.source = ncu_guide;
    rules.shared = {.packs_pairs = true,
                    .source = "the rule measured on an H200; NVIDIA forum 77228 states it for 7.x"};
    rules.constant.widest_bytes = 8;
    rules.l1.splits = splits;
    rules.occupancy = occupancy;
    rules.memory = {
        .fill_settable = true, .source = no_measurement, .sustained_source = no_fraction};
    return rules;
}

}  // namespace chips
}  // namespace coalprof
