// Every number of the rules of each compute capability, with where it was published. A value that
// is changed in rules.cpp alone turns one of these red.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/machine/rules.h"

namespace coalprof {
namespace {

constexpr std::uint32_t KiB = 1024;

// CUDA Occupancy Calculator, sheet "GPU Data" (1.x to 3.2), and cuda_occupancy.h of CUDA 13.0 with
// the CUDA Programming Guide's table of technical specifications (3.5 on). 6.0 has two
// sub-partitions, but cuda_occupancy.h rounds its warps as for four. The calculator gives a block
// of 3.2, 5.3 and 6.2 half of the registers of a multiprocessor.
struct OccupancyRow {
    ComputeCapability cc;
    std::uint32_t threads, blocks, registers, registers_per_block, registers_per_thread,
        register_unit, sub_partitions, warp_unit, shared_kib, shared_kib_per_block, shared_unit,
        reserved, barriers;
};
constexpr std::array occupancy_rows{
    OccupancyRow{{1, 0}, 768, 8, 8 * KiB, 8 * KiB, 124, 256, 1, 2, 16, 16, 512, 0, 0},
    OccupancyRow{{1, 1}, 768, 8, 8 * KiB, 8 * KiB, 124, 256, 1, 2, 16, 16, 512, 0, 0},
    OccupancyRow{{1, 2}, 1024, 8, 16 * KiB, 16 * KiB, 124, 512, 1, 2, 16, 16, 512, 0, 0},
    OccupancyRow{{1, 3}, 1024, 8, 16 * KiB, 16 * KiB, 124, 512, 1, 2, 16, 16, 512, 0, 0},
    OccupancyRow{{2, 0}, 1536, 8, 32 * KiB, 32 * KiB, 63, 64, 2, 2, 48, 48, 128, 0, 0},
    OccupancyRow{{2, 1}, 1536, 8, 32 * KiB, 32 * KiB, 63, 64, 2, 2, 48, 48, 128, 0, 0},
    OccupancyRow{{3, 0}, 2048, 16, 64 * KiB, 64 * KiB, 63, 256, 4, 4, 48, 48, 256, 0, 0},
    OccupancyRow{{3, 2}, 2048, 16, 64 * KiB, 32 * KiB, 255, 256, 4, 4, 48, 48, 256, 0, 0},
    OccupancyRow{{3, 5}, 2048, 16, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 48, 48, 256, 0, 0},
    OccupancyRow{{3, 7}, 2048, 16, 128 * KiB, 64 * KiB, 255, 256, 4, 4, 112, 48, 256, 0, 0},
    OccupancyRow{{5, 0}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 64, 48, 256, 0, 0},
    OccupancyRow{{5, 2}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 96, 48, 256, 0, 0},
    OccupancyRow{{5, 3}, 2048, 32, 64 * KiB, 32 * KiB, 255, 256, 4, 4, 64, 48, 256, 0, 0},
    OccupancyRow{{6, 0}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 2, 4, 64, 48, 256, 0, 0},
    OccupancyRow{{6, 1}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 96, 48, 256, 0, 0},
    OccupancyRow{{6, 2}, 2048, 32, 64 * KiB, 32 * KiB, 255, 256, 4, 4, 64, 48, 256, 0, 0},
    OccupancyRow{{7, 0}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 96, 96, 256, 0, 0},
    OccupancyRow{{7, 2}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 96, 96, 256, 0, 0},
    OccupancyRow{{7, 5}, 1024, 16, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 64, 64, 256, 0, 0},
    OccupancyRow{{8, 0}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 164, 163, 128, 1024, 0},
    OccupancyRow{{8, 6}, 1536, 16, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 100, 99, 128, 1024, 0},
    OccupancyRow{{8, 7}, 1536, 16, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 164, 163, 128, 1024, 0},
    OccupancyRow{{8, 9}, 1536, 24, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 100, 99, 128, 1024, 0},
    OccupancyRow{{9, 0}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 228, 227, 128, 1024, 64},
    OccupancyRow{{10, 0}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 228, 227, 128, 1024, 64},
    OccupancyRow{{10, 1}, 1536, 24, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 228, 227, 128, 1024, 24},
    OccupancyRow{{10, 3}, 2048, 32, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 228, 227, 128, 1024, 64},
    OccupancyRow{{11, 0}, 1536, 24, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 228, 227, 128, 1024, 24},
    OccupancyRow{{12, 0}, 1536, 24, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 100, 99, 128, 1024, 24},
    OccupancyRow{{12, 1}, 1536, 24, 64 * KiB, 64 * KiB, 255, 256, 4, 4, 100, 99, 128, 1024, 24},
};

TEST(RuleNumbers, of_occupancy_are_those_of_the_calculator_and_the_header) {
    ASSERT_EQ(all_rules().size(), occupancy_rows.size());
    for (std::size_t i = 0; i < occupancy_rows.size(); ++i) {
        const OccupancyRow& row = occupancy_rows[i];
        const OccupancyLimits& has = all_rules()[i].occupancy;
        const std::string cc = text_of(row.cc);
        EXPECT_EQ(text_of(all_rules()[i].cc), cc);
        EXPECT_EQ(has.threads, row.threads) << cc;
        EXPECT_EQ(has.threads_per_block, row.cc.major == 1 ? 512u : 1024u) << cc;
        EXPECT_EQ(has.blocks, row.blocks) << cc;
        EXPECT_EQ(has.registers, row.registers) << cc;
        EXPECT_EQ(has.registers_per_block, row.registers_per_block) << cc;
        EXPECT_EQ(has.registers_per_thread, row.registers_per_thread) << cc;
        EXPECT_EQ(has.registers_by_block, row.cc.major == 1) << cc;
        EXPECT_EQ(has.register_unit, row.register_unit) << cc;
        EXPECT_EQ(has.sub_partitions, row.sub_partitions) << cc;
        EXPECT_EQ(has.warp_unit, row.warp_unit) << cc;
        EXPECT_EQ(has.shared_bytes, row.shared_kib * KiB) << cc;
        EXPECT_EQ(has.shared_bytes_per_block, row.shared_kib_per_block * KiB) << cc;
        EXPECT_EQ(has.shared_unit_bytes, row.shared_unit) << cc;
        EXPECT_EQ(has.shared_reserved_bytes, row.reserved) << cc;
        EXPECT_EQ(has.barriers.value_or(0), row.barriers) << cc;
    }
}

// The shared memory and L1 of each split, in KiB. 2.x and 3.x: the CUDA C Programming Guide on
// cudaFuncSetCacheConfig(); 3.7 has 64 KiB of shared memory more (Kepler Tuning Guide). 5.x
// and 6.x: the CUDA Programming Guide 13 on each compute capability. 7.0 on: its table of
// carveouts, of 128 KiB (7.0, 8.6, 8.9, 12.x), 96 (7.5), 192 (8.0, 8.7) and 256 (9.0 to 11.0).
struct SplitRow {
    std::vector<ComputeCapability> all;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> splits;
};
const std::vector<SplitRow> split_rows{
    {{{1, 0}, {1, 1}, {1, 2}, {1, 3}}, {{16, 0}}},
    {{{2, 0}, {2, 1}}, {{16, 48}, {48, 16}}},
    {{{3, 0}, {3, 2}, {3, 5}}, {{16, 48}, {32, 32}, {48, 16}}},
    {{{3, 7}}, {{80, 48}, {96, 32}, {112, 16}}},
    {{{5, 0}, {5, 3}, {6, 0}, {6, 2}}, {{64, 24}}},
    {{{5, 2}}, {{96, 24}}},
    {{{6, 1}}, {{96, 48}}},
    {{{7, 0}, {7, 2}}, {{0, 128}, {8, 120}, {16, 112}, {32, 96}, {64, 64}, {96, 32}}},
    {{{7, 5}}, {{32, 64}, {64, 32}}},
    {{{8, 0}, {8, 7}},
     {{0, 192}, {8, 184}, {16, 176}, {32, 160}, {64, 128}, {100, 92}, {132, 60}, {164, 28}}},
    {{{8, 6}, {8, 9}, {12, 0}, {12, 1}},
     {{0, 128}, {8, 120}, {16, 112}, {32, 96}, {64, 64}, {100, 28}}},
    {{{9, 0}, {10, 0}, {10, 1}, {10, 3}, {11, 0}},
     {{0, 256},
      {8, 248},
      {16, 240},
      {32, 224},
      {64, 192},
      {100, 156},
      {132, 124},
      {164, 92},
      {196, 60},
      {228, 28}}},
};

const Rules& rules_for(ComputeCapability cc) {
    return *std::ranges::find(all_rules(), cc, &Rules::cc);
}

TEST(RuleNumbers, of_l1_and_shared_memory_are_those_of_the_guides) {
    std::size_t seen = 0;
    for (const SplitRow& row : split_rows)
        for (const ComputeCapability cc : row.all) {
            ++seen;
            std::vector<std::pair<std::uint32_t, std::uint32_t>> splits;
            for (const L1Split& split : rules_for(cc).l1.splits)
                splits.emplace_back(split.shared_kib, split.l1_kib);
            EXPECT_EQ(splits, row.splits) << text_of(cc);
            EXPECT_EQ(rules_for(cc).l1.percent_of_largest, cc.major != 2 && cc.major != 3);
        }
    EXPECT_EQ(seen, all_rules().size());
}

// From which compute capability on: CUDA C Programming Guide 4.2, appendix F, tables of features
// and technical specifications (1.x to 3.0); CUDA Programming Guide 13 (atomicAdd() of doubles,
// ld.global.nc, cudaMallocManaged()). That the limit of what L2 fetches works from 8.0 on is
// assumed.
TEST(RuleNumbers, of_what_came_later_are_those_of_the_feature_tables) {
    for (const Rules& rules : all_rules()) {
        const auto from = [&](int major, int minor) {
            return rules.cc >= ComputeCapability{major, minor};
        };
        const std::string cc = text_of(rules.cc);
        const Abilities& has = rules.abilities;
        EXPECT_EQ(has.doubles, from(1, 3)) << cc;
        EXPECT_EQ(has.atomic_bytes, from(1, 2) ? 8u : from(1, 1) ? 4u : 0u) << cc;
        EXPECT_EQ(has.shared_atomics, from(1, 2)) << cc;
        EXPECT_EQ(has.float_atomics, from(2, 0)) << cc;
        EXPECT_EQ(has.double_atomics, from(6, 0)) << cc;
        EXPECT_EQ(has.managed_memory, from(3, 0)) << cc;
        EXPECT_EQ(has.grid_blocks[0], from(3, 0) ? 2147483647u : 65535u) << cc;
        EXPECT_EQ(has.grid_blocks[1], 65535u) << cc;
        EXPECT_EQ(has.grid_blocks[2], from(2, 0) ? 65535u : 1u) << cc;
        EXPECT_EQ(rules.read_only, from(7, 0)   ? ReadOnlyPath::l1
                                   : from(3, 2) ? ReadOnlyPath::texture_cache
                                                : ReadOnlyPath::none)
            << cc;
        EXPECT_EQ(rules.memory.fill_settable, from(8, 0)) << cc;
    }
}

// Which loads L1 keeps. 2.x: appendix F.4.2 (128-byte lines, by default; what streams is kept too,
// PTX ISA, ld.cs). 3.x: the guide on 3.x (local memory alone; 3.5 and 3.7 opt in). 5.x, 6.x: CUDA
// Programming Guide 13 (5.0 never, the others where they are asked to). 7.0 on: the Kernel
// Profiling Guide.
TEST(RuleNumbers, of_what_l1_keeps_are_those_of_the_guides) {
    for (const Rules& rules : all_rules()) {
        const std::string cc = text_of(rules.cc);
        const L1Loads& has = rules.l1_loads;
        const int major = rules.cc.major;
        const int minor = rules.cc.minor;
        const bool is_lines = major == 2 || major == 3;
        const bool is_sectored = major >= 7;
        EXPECT_EQ(has.keeps_ca, major == 2 || (major == 3 && minor >= 5) ||
                                    (major == 5 && minor > 0) || major >= 6)
            << cc;
        EXPECT_EQ(has.keeps_cs, major == 2 || is_sectored) << cc;
        EXPECT_EQ(has.by_default, major == 2 || (major == 6 && minor == 0) || is_sectored) << cc;
        EXPECT_EQ(has.fetch_bytes, is_lines ? 128u : 32u) << cc;
    }
}

// What L2 fetches: warpspeed (D. Ernst) for V100, A100, A40, L40; an H200 of our own; 10.x with HBM
// as those. Nothing is known of the others, whose value is that of the A40. The share of the peak:
// 74 of 86.4 and 120 of 141.7 GB/s (CUDA Best Practices Guide), 110 of 148 (M2050, saxpy), 790 of
// 898 (Best Practices Guide, V100), 4255 of 4814 (H200, 2026-11-20); else the middle of 0.75 to
// 0.86.
TEST(RuleNumbers, of_device_memory_are_those_that_were_published_or_measured) {
    for (const Rules& rules : all_rules()) {
        const std::string cc = text_of(rules.cc);
        const ComputeCapability is = rules.cc;
        const bool has_hbm = is == ComputeCapability{7, 0} || is == ComputeCapability{8, 0} ||
                             is.major == 9 || (is.major == 10 && is.minor != 1);
        EXPECT_EQ(rules.memory.fill_bytes, is.major == 1 ? 0u : has_hbm ? 64u : 32u) << cc;
        EXPECT_EQ(rules.memory.flush_reads, is.major == 9 ? 2u : 4u) << cc;
        const double sustained = is.major == 1                   ? 0.85
                                 : is.major == 2                 ? 0.75
                                 : is == ComputeCapability{7, 0} ? 0.88
                                 : is.major == 9                 ? 0.884
                                                                 : 0.80;
        EXPECT_EQ(rules.memory.sustained_fraction, sustained) << cc;
    }
}

// Warps of single launches on an H200 (2026-11-20) varied address bits 7 to 33; above no bit was
// seen.
TEST(RuleNumbers, of_the_banks_of_tags_hold_below_bit_34_of_9_0_alone) {
    for (const Rules& rules : all_rules()) {
        ASSERT_EQ(rules.tag_banks.has_value(), rules.cc.major == 9) << text_of(rules.cc);
        if (!rules.tag_banks) continue;
        EXPECT_EQ(rules.tag_banks->known_address_bits, 34u);
        // Line numbers begin behind the 7 bits of an address in a line.
        for (const std::uint64_t mask : {rules.tag_banks->high_mask, rules.tag_banks->low_mask})
            EXPECT_LT(mask, 1ull << (34 - 7));
    }
}

}  // namespace
}  // namespace coalprof
