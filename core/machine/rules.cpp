#include "core/machine/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace coalprof {
namespace {

// Where the values below come from.
constexpr std::string_view guide_4 = "CUDA C Programming Guide 4.2, appendix F";
constexpr std::string_view feature_tables =
    "CUDA C Programming Guide 4.2, appendix F; CUDA Programming Guide 13, compute capabilities and "
    "unified memory";
constexpr std::string_view guide_kepler =
    "CUDA C Programming Guide, compute capability 3.x; 16-byte lanes in shared memory extrapolated";
constexpr std::string_view guide_13 = "CUDA Programming Guide 13, compute capabilities";
constexpr std::string_view guide_as_3x =
    "CUDA Programming Guide 13, compute capability 5.x: as 3.x; so count nvprof's efficiencies of "
    "a GTX 1070 (6.1)";
// The author of an assembler found no conflict where lanes n and n ^ 1, or n and n ^ 2, agree, and
// some in the same 128 bytes in lane order; he counted no passes.
constexpr std::string_view maxas =
    "CUDA Programming Guide 13, compute capabilities; wide loads whose neighbours agree: wiki of "
    "github.com/NervanaSystems/maxas, SGEMM";
constexpr std::string_view ncu_guide = "Nsight Compute, Kernel Profiling Guide, memory tables";
constexpr std::string_view calculator = "CUDA Occupancy Calculator";
constexpr std::string_view occupancy_header = "cuda_occupancy.h of CUDA 13.0";
constexpr std::string_view measured_on_h200 =
    "single-warp launches on an NVIDIA H200 (driver 580.159, CUDA 13.0, Nsight Compute 2025.3.1, "
    "2026-11-20)";
constexpr std::string_view h200_kernels =
    "kernels on an NVIDIA H200 (driver 580.159, CUDA 13.0, Nsight Compute 2025.3.1, 2026-11-20)";
constexpr std::string_view no_measurement = "not measured; assumed";
constexpr std::string_view no_fraction = "not measured; the middle of 0.75 to 0.86 seen elsewhere";

// L1 and shared memory -------------------------------------------------------------------------

constexpr std::array split_1x{L1Split{16, 0}};
constexpr std::array split_2x{L1Split{16, 48}, L1Split{48, 16}};
constexpr std::array split_3x{L1Split{16, 48}, L1Split{32, 32}, L1Split{48, 16}};
constexpr std::array split_37{L1Split{80, 48}, L1Split{96, 32}, L1Split{112, 16}};
constexpr std::array split_64_24{L1Split{64, 24}};
constexpr std::array split_96_24{L1Split{96, 24}};
constexpr std::array split_96_48{L1Split{96, 48}};

template <std::size_t n>
constexpr std::array<L1Split, n> unified(std::uint32_t all_kib, const std::uint32_t (&shared)[n]) {
    std::array<L1Split, n> splits{};
    for (std::size_t i = 0; i < n; ++i) splits[i] = {shared[i], all_kib - shared[i]};
    return splits;
}
constexpr auto split_volta = unified(128, {0, 8, 16, 32, 64, 96});
constexpr auto split_turing = unified(96, {32, 64});
constexpr auto split_a100 = unified(192, {0, 8, 16, 32, 64, 100, 132, 164});
constexpr auto split_100 = unified(128, {0, 8, 16, 32, 64, 100});
constexpr auto split_hopper = unified(256, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228});

constexpr L1Rules chosen(std::span<const L1Split> splits, bool percent, std::string_view source) {
    return {splits, percent, Evidence::documented, source};
}

// Occupancy ------------------------------------------------------------------------------------

constexpr std::uint32_t k = 1024;

constexpr OccupancyLimits occupancy_1x(std::uint32_t threads, std::uint32_t registers,
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

constexpr OccupancyLimits occupancy_2x() {
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

constexpr OccupancyLimits occupancy_3x_to_7x(std::uint32_t threads, std::uint32_t blocks,
                                             std::uint32_t shared_kib,
                                             std::uint32_t shared_per_block_kib) {
    OccupancyLimits limits{.threads = threads, .blocks = blocks, .registers = 64 * k};
    limits.shared_bytes = shared_kib * k;
    limits.shared_bytes_per_block = shared_per_block_kib * k;
    limits.registers_per_block = 64 * k;
    limits.source = occupancy_header;
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

// What there is from which compute capability on.
constexpr Abilities abilities_of(ComputeCapability cc) {
    const auto from = [cc](int major, int minor) { return cc >= ComputeCapability{major, minor}; };
    return {.doubles = from(1, 3),
            .atomic_bytes = from(1, 2)   ? 8u
                            : from(1, 1) ? 4u
                                         : 0u,
            .float_atomics = from(2, 0),
            .double_atomics = from(6, 0),
            .managed_memory = from(3, 0),
            .grid_blocks = {from(3, 0) ? 2147483647u : 65535u, 65535, from(2, 0) ? 65535u : 1u},
            .shared_atomics = from(1, 2),
            .widest_access_bytes = from(10, 0) ? 32u : 16u,
            .source = feature_tables};
}

// Generations ----------------------------------------------------------------------------------

constexpr Rules tesla(int minor) {
    Rules rules;
    rules.cc = {1, minor};
    rules.family = "Tesla";
    rules.global = GlobalRule::half_warp_in_order;
    rules.transactions = {.request_lanes = {16, 16, 16}, .segment_bytes = {0, 0, 64, 128, 128}};
    rules.source = guide_4;
    rules.shared = {.rule = SharedRule::broadcast_word,
                    .banks = 16,
                    .row_bytes = 64,
                    .lanes = {16, 16, 16},
                    .splits_words = true,
                    .source = guide_4};
    rules.constant = {.request_lanes = 16, .source = guide_4};
    rules.local = {.source = guide_4};
    rules.l1 = chosen(split_1x, true, guide_4);
    rules.occupancy = occupancy_1x(768, 8 * k, 256);
    rules.memory.fill_bytes = 0;
    rules.memory.source = "no L2; every transaction goes to device memory";
    rules.memory.sustained_fraction = 0.85;
    rules.memory.sustained_source = "GeForce 8800 GTX, 74 of 86.4 GB/s: CUDA Best Practices Guide";
    return rules;
}

constexpr Rules tesla_segments(int minor) {
    Rules rules = tesla(minor);
    rules.global = GlobalRule::half_warp_segments;
    rules.transactions = {.request_lanes = {16, 16, 16}, .segment_bytes = {32, 64, 128, 128, 128}};
    rules.occupancy = occupancy_1x(1024, 16 * k, 512);
    rules.memory.sustained_source = "GeForce GTX 280, 120 of 141.7 GB/s: CUDA Best Practices Guide";
    return rules;
}

constexpr Rules fermi(int minor) {
    Rules rules;
    rules.cc = {2, minor};
    rules.family = "Fermi";
    rules.global = GlobalRule::lines_or_segments;
    rules.transactions = {.request_lanes = {32, 16, 8}};
    rules.l1_loads = {.keeps_ca = true, .keeps_cs = true, .by_default = true, .fetch_bytes = 128};
    rules.source = guide_4;
    // The guide says that most 16-byte accesses conflict once; the extra pass stands for that.
    rules.shared = {.extra_passes = 1, .source = guide_4};
    rules.constant = {.source = guide_4};
    rules.local = {.source = guide_4};
    rules.l1 = chosen(split_2x, false, guide_4);
    rules.occupancy = occupancy_2x();
    rules.memory.source = guide_4;
    rules.memory.sustained_fraction = 0.75;
    rules.memory.sustained_source = "Tesla M2050, 110 of 148 GB/s in published saxpy runs";
    return rules;
}

constexpr Rules kepler(int minor) {
    Rules rules = fermi(0);
    rules.cc = {3, minor};
    rules.family = "Kepler";
    rules.l1_loads = {.fetch_bytes = 128};  // L1 is for local memory
    rules.source = guide_kepler;
    rules.shared = {
        .row_bytes = 256, .lanes = {32, 32, 16}, .has_8_byte_mode = true, .source = guide_kepler};
    rules.constant = {.source = guide_kepler};
    rules.local = {.source = guide_kepler};
    rules.l1 = chosen(split_3x, false, guide_kepler);
    rules.occupancy = occupancy_3x_to_7x(2048, 16, 48, 48);
    rules.memory = {.source = guide_kepler, .sustained_source = no_fraction};
    return rules;
}

constexpr Rules kepler_30() {
    Rules rules = kepler(0);
    rules.occupancy.registers_per_thread = 63;
    rules.occupancy.source = calculator;
    return rules;
}

constexpr Rules kepler_32() {
    Rules rules = kepler(2);
    rules.read_only = ReadOnlyPath::texture_cache;
    rules.occupancy.registers_per_block = 32 * k;
    rules.occupancy.source = calculator;
    return rules;
}

// 3.5 (some boards) and 3.7 let a program opt in with -dlcm=ca.
constexpr Rules kepler_opt_in(int minor) {
    Rules rules = kepler(minor);
    rules.l1_loads.keeps_ca = true;
    rules.read_only = ReadOnlyPath::texture_cache;
    if (minor == 7) {
        rules.l1 = chosen(split_37, false, guide_kepler);
        rules.occupancy.shared_bytes = 112 * k;
        rules.occupancy.registers = 128 * k;
    }
    return rules;
}

constexpr Rules maxwell(int minor, std::span<const L1Split> split, bool ca) {
    Rules rules;
    rules.cc = {5, minor};
    rules.family = "Maxwell";
    rules.global = GlobalRule::lines_or_segments;
    rules.transactions = {.request_lanes = {32, 16, 8}};
    rules.l1_loads = {.keeps_ca = ca};
    rules.read_only = ReadOnlyPath::texture_cache;
    rules.source = guide_as_3x;
    rules.shared = {.may_pack_pairs = true, .source = maxas};
    rules.constant = {.source = guide_13};
    rules.local = {.source = guide_13};
    rules.l1 = chosen(split, true, guide_13);
    rules.occupancy = occupancy_3x_to_7x(2048, 32, split.front().shared_kib, 48);
    if (minor == 3) rules.occupancy.registers_per_block = 32 * k;
    rules.memory = {.source = guide_13, .sustained_source = no_fraction};
    return rules;
}

constexpr Rules pascal(int minor, std::span<const L1Split> split) {
    Rules rules = maxwell(minor, split, true);
    rules.cc = {6, minor};
    rules.family = "Pascal";
    if (minor == 0) {
        rules.l1_loads.by_default = true;
        rules.source =
            "CUDA Programming Guide 13, as for 3.x; that L1 keeps loads by default is unverified";
        // Two sub-partitions, but a block must also fit the four of 6.1: hence warp_unit 4.
        rules.occupancy.sub_partitions = 2;
    }
    if (minor == 1) {
        rules.evidence = Evidence::published;
        // Exact there: 79.62 % of 4-byte lanes that begin 12 bytes behind a sector. Groups of 8
        // lanes, which L1 takes one by one (NVIDIA forum 49571), would give 50 %.
        rules.source =
            "nvprof's efficiencies of a GTX 1070 (github.com/sankarmanoj/thrust2D, GameOfLife and "
            "opencv); lanes of 8 and 16 bytes as for 3.x";
    }
    rules.occupancy.registers_per_block = minor == 2 ? 32 * k : 64 * k;
    return rules;
}

// The sectored L1 of Volta and all after it. `evidence` of the sector rule.
constexpr Rules sectored(int major, int minor, std::string_view family, Evidence evidence,
                         std::string_view source) {
    Rules rules;
    rules.cc = {major, minor};
    rules.family = family;
    rules.l1_loads = {.keeps_ca = true, .keeps_cs = true, .by_default = true};
    rules.read_only = ReadOnlyPath::l1;
    rules.evidence = evidence;
    rules.source = source;
    rules.shared = {.packs_pairs = true,
                    .source = "the rule measured on an H200; NVIDIA forum 77228 states it for 7.x"};
    rules.constant = {.widest_bytes = 8, .source = guide_13};
    rules.local = {.source = guide_13};
    rules.memory = {
        .fill_settable = major >= 8, .source = no_measurement, .sustained_source = no_fraction};
    return rules;
}

constexpr Rules volta(int minor) {
    Rules rules = sectored(7, minor, "Volta", Evidence::documented, ncu_guide);
    rules.l1 = chosen(split_volta, true, guide_13);
    rules.occupancy = occupancy_3x_to_7x(2048, 32, 96, 96);
    if (minor == 0) {
        rules.evidence = Evidence::published;
        rules.source = "counters of a Titan V and NVIDIA's Kernel Profiling Guide";
        rules.memory.fill_bytes = 64;
        rules.memory.evidence = Evidence::published;
        rules.memory.source = "warpspeed (D. Ernst), V100";
        rules.memory.sustained_fraction = 0.88;
        rules.memory.sustained_source = "V100, 790 of 898 GB/s: CUDA Best Practices Guide";
    }
    return rules;
}

constexpr Rules turing() {
    Rules rules = sectored(7, 5, "Turing", Evidence::documented, ncu_guide);
    rules.l1 = chosen(split_turing, true, guide_13);
    rules.occupancy = occupancy_3x_to_7x(1024, 16, 64, 64);
    return rules;
}

constexpr Rules ampere_80() {
    Rules rules = sectored(8, 0, "Ampere", Evidence::published,
                           "counters of an A100 (gpu-benches) and the Kernel Profiling Guide");
    rules.l1 = chosen(split_a100, true, guide_13);
    rules.occupancy = occupancy_8x_on(2048, 32, 164);
    rules.memory.fill_bytes = 64;
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst), A100";
    return rules;
}

constexpr Rules ampere_86() {
    Rules rules = sectored(8, 6, "Ampere", Evidence::published,
                           "counters of an A40 (gpu-benches) and the Kernel Profiling Guide");
    rules.l1 = chosen(split_100, true, guide_13);
    rules.occupancy = occupancy_8x_on(1536, 16, 100);
    rules.shared.evidence = Evidence::published;
    rules.shared.source = "counters of a GA102; the rule as measured on an H200";
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst), A40";
    return rules;
}

constexpr Rules ampere_87() {
    Rules rules = sectored(8, 7, "Ampere", Evidence::documented, ncu_guide);
    rules.l1 = chosen(split_a100, true, guide_13);
    rules.occupancy = occupancy_8x_on(1536, 16, 164);
    return rules;
}

constexpr Rules ada() {
    Rules rules = sectored(8, 9, "Ada", Evidence::documented, ncu_guide);
    rules.l1 = chosen(split_100, true, guide_13);
    rules.occupancy = occupancy_8x_on(1536, 24, 100);
    rules.memory.evidence = Evidence::published;
    rules.memory.source = "warpspeed (D. Ernst): 32 bytes on an L40, 64 on an L40S";
    return rules;
}

constexpr Rules hopper() {
    Rules rules = sectored(9, 0, "Hopper", Evidence::measured, measured_on_h200);
    rules.tag_banks = TagBanks{0x5EF7AB5, 0x6BAD5DA, 34};
    rules.shared.evidence = Evidence::measured;
    rules.shared.source = measured_on_h200;
    rules.l1 = chosen(split_hopper, true, guide_13);
    rules.occupancy = with_barriers(occupancy_8x_on(2048, 32, 228), 64);
    rules.memory.fill_bytes = 64;
    rules.memory.evidence = Evidence::measured;
    rules.memory.source = h200_kernels;
    // By the DRAM traffic of the next launch on 4, 24 and 48 MiB of arrays (H200, 2026-11-22):
    // after reading its size once, up to 29 % of them still hit, and loads found up to 32 % still
    // to be written back; after one and a half times, 1.5 % and 3 %; after twice, none and 0.1 %,
    // and hardly less after four times.
    rules.memory.flush_reads = 2;
    rules.memory.sustained_fraction = 0.884;
    rules.memory.sustained_source =
        "NVIDIA H200, 4255 of 4814 GB/s in a device-to-device copy (driver 580.159, 2026-11-20)";
    return rules;
}

constexpr Rules blackwell(int major, int minor, std::span<const L1Split> split,
                          OccupancyLimits occupancy) {
    Rules rules = sectored(major, minor, "Blackwell", Evidence::documented, ncu_guide);
    rules.l1 = chosen(split, true, guide_13);
    rules.occupancy = occupancy;
    return rules;
}

// 10.x with HBM: 64 bytes as on A100 and H200, assumed.
constexpr Rules blackwell_hbm(int minor) {
    const auto limits = with_barriers(occupancy_8x_on(2048, 32, 228), 64);
    Rules rules = blackwell(10, minor, split_hopper, limits);
    rules.memory.fill_bytes = 64;
    return rules;
}
constexpr Rules blackwell_thor(int major, int minor) {
    return blackwell(major, minor, split_hopper, with_barriers(occupancy_8x_on(1536, 24, 228), 24));
}
constexpr Rules blackwell_gddr(int minor) {
    return blackwell(12, minor, split_100, with_barriers(occupancy_8x_on(1536, 24, 100), 24));
}

constexpr std::array records{
    tesla(0),
    tesla(1),
    tesla_segments(2),
    tesla_segments(3),
    fermi(0),
    fermi(1),
    kepler_30(),
    kepler_32(),
    kepler_opt_in(5),
    kepler_opt_in(7),
    maxwell(0, split_64_24, false),
    maxwell(2, split_96_24, true),
    maxwell(3, split_64_24, true),
    pascal(0, split_64_24),
    pascal(1, split_96_48),
    pascal(2, split_64_24),
    volta(0),
    volta(2),
    turing(),
    ampere_80(),
    ampere_86(),
    ampere_87(),
    ada(),
    hopper(),
    blackwell_hbm(0),
    blackwell_thor(10, 1),  // what 11.0 was called before CUDA 13
    blackwell_hbm(3),
    blackwell_thor(11, 0),
    blackwell_gddr(0),
    blackwell_gddr(1),
};
constexpr auto rules_table = [] {
    auto all = records;
    for (Rules& rules : all) rules.abilities = abilities_of(rules.cc);
    return all;
}();
constexpr auto table_of_8_byte_banks = [] {
    auto all = rules_table;
    for (Rules& rules : all)
        if (rules.shared.has_8_byte_mode) rules.shared.bank_bytes = 8;
    return all;
}();
static_assert(std::ranges::is_sorted(rules_table, {}, &Rules::cc),
              "machine_of_device() looks for the newest record that is not newer than the device");

}  // namespace

std::string text_of(ComputeCapability cc) { return fmt::format("{}.{}", cc.major, cc.minor); }

std::string_view text_of(Evidence evidence) {
    switch (evidence) {
        case Evidence::measured:
            return "rules measured";
        case Evidence::published:
            return "rules from published measurements";
        case Evidence::documented:
            break;
    }
    return "rules documented, not measured";
}

std::string_view text_of(GlobalRule rule) {
    switch (rule) {
        case GlobalRule::half_warp_in_order:
            return "half-warps: one 64- or 128-byte transaction in order, else one per lane";
        case GlobalRule::half_warp_segments:
            return "half-warps: one transaction of 32, 64 or 128 bytes per segment";
        case GlobalRule::lines_or_segments:
            return "128-byte lines through an L1 that fetches them, else 32-byte segments";
        case GlobalRule::sectors_by_warp:
            break;
    }
    return "32-byte sectors of the whole warp";
}

L1Split l1_split(const L1Rules& rules, std::optional<std::uint32_t> shared_percent) {
    const L1Split largest = rules.splits.back();
    if (!shared_percent) return largest;
    const std::uint32_t from = rules.percent_of_largest ? 0 : rules.splits.front().shared_kib;
    // In hundredths of a KiB, so that nothing is lost to rounding.
    const std::uint32_t wanted = 100 * from + *shared_percent * (largest.shared_kib - from);
    for (const L1Split& split : rules.splits)
        if (100 * split.shared_kib >= wanted) return split;
    return largest;
}

std::span<const Rules> all_rules() { return rules_table; }

const Rules* with_8_byte_banks(const Rules& rules) {
    const auto found = std::ranges::find(table_of_8_byte_banks, rules.cc, &Rules::cc);
    return found->shared.has_8_byte_mode ? &*found : nullptr;
}

}  // namespace coalprof
