// What a launch reaches of its arrays, and what of it device memory moves.
#include <gtest/gtest.h>

#include <vector>

#include "core/formula/formula.h"
#include "core/pattern/catalog.h"
#include "core/traffic/dram_traffic.h"
#include "core/traffic/launches.h"
#include "core/traffic/reach.h"

namespace coalprof {
namespace {

Reach reach_of_loads(const Plan& plan) {
    std::vector<const Instruction*> loads;
    for (const Instruction& one : plan.program.instructions)
        if (one.kind == AccessKind::load && one.array == 0) loads.push_back(&one);
    return reach_of(plan.program, loads);
}

// 2^20 floats 33 apart: 132 bytes, so that each has a sector, a fetch and, but for those whose
// neighbour 132 bytes on lies in the same line (none: 132 > 128), a line of its own.
TEST(Reach, of_a_wide_stride_is_a_unit_for_each_element) {
    const Reach reach = reach_of_loads(plan_of("stride", 33, Op::load, 4 * mib));
    EXPECT_NEAR(reach.units[0], 1 << 20, 2);
    EXPECT_NEAR(reach.units[1], 1 << 20, 2);
    EXPECT_NEAR(reach.units[2], 1 << 20, 2);
    EXPECT_EQ(reach.accesses, 1 << 20);
}

// A matrix read column by column is read whole: 4 MiB are 2^17 sectors. A period, one column of
// 4096 rows, has a sector of each row.
TEST(Reach, of_columns_is_the_matrix_and_of_one_of_them_a_sector_a_row) {
    const Reach reach = reach_of_loads(plan_of("column", 1024, Op::load, 4 * mib));
    EXPECT_EQ(reach.units[0], 4 * mib / 32);
    EXPECT_EQ(reach.units[2], 4 * mib / 128);
    EXPECT_EQ(reach.of_period[0], 4096);
    EXPECT_EQ(reach.periods, 256);
}

// n draws from m sectors leave m * exp(-n / m) of them untouched: of 2^21 sectors (64 MiB) 2^22
// draws reach 1 - exp(-2) = 86.5 %.
TEST(Reach, of_a_scatter_is_told_from_samples) {
    const Reach reach = reach_of_loads(plan_of("scatter", 64 * mib, Op::load, 16 * mib));
    EXPECT_TRUE(reach.at_random);
    EXPECT_NEAR(reach.units[0] / (1 << 21), 0.865, 0.02);
}

DramTraffic dram_of(const Plan& plan, bool is_warm = false) {
    const std::vector<ArrayReach> arrays = reaches_of(plan.program);
    return dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .is_warm = is_warm}, shares_of_h200());
}

// L2 fetches 64 bytes for each float: 16 MiB of floats, 64 bytes apart and more, come as 256 MiB.
TEST(DramTraffic, of_a_sparse_load_is_a_fetch_for_each_element) {
    EXPECT_NEAR(dram_of(plan_of("stride", 20, Op::load, 16 * mib)).read.bytes, 256.0 * mib, mib);
}

// Whole sectors are not read before they are written; what L2 keeps dirty (28.5 MiB of 60) is not
// written while the launch runs. Measured on an H200: 28.4 MiB left.
TEST(DramTraffic, of_whole_sectors_stored_is_what_l2_cannot_keep) {
    const DramTraffic dram = dram_of(plan_of("offset", 0, Op::store, 256 * mib));
    EXPECT_EQ(dram.read.bytes, 0);
    EXPECT_NEAR(dram.write.bytes / mib, 256 - 28.5, 0.5);
}

// Sectors stored in part are read to complete them: about as many bytes as are written.
TEST(DramTraffic, of_parts_of_sectors_stored_is_read_as_well) {
    const DramTraffic dram = dram_of(plan_of("stride", 33, Op::store, 64 * mib));
    EXPECT_NEAR(dram.read.bytes / mib, 512, 8);
    EXPECT_NEAR(dram.write.bytes / mib, 512, 8);
}

// Measured on an H200 (256 MiB of 16 bytes, column by column of a matrix of 128-byte rows): 535 MB
// are read. Every sector comes twice, a half each time, and L2 does not hold it in between: it is
// completed twice, 2 x 32 bytes for each of 2^23.
TEST(DramTraffic, of_sectors_stored_a_half_at_a_time_is_read_twice) {
    Plan plan = plan_of("column", 128, Op::store, 256 * mib);
    plan.type = ElementType::f32x4;
    build_program(plan);
    const DramTraffic dram =
        dram_traffic(reaches_of(plan.program),
                     {.l2_bytes = 60.0 * mib, .l2_write_sectors = 1 << 24}, shares_of_h200());
    EXPECT_NEAR(dram.read.bytes / mib, 512, 1);
}

DramTraffic dram_of_stores(const Plan& plan, double l2_write_sectors) {
    return dram_traffic(reaches_of(plan.program),
                        {.l2_bytes = 60.0 * mib, .l2_write_sectors = l2_write_sectors},
                        shares_of_h200());
}

// Measured on an H200: 65.2 MB are read and 124 MB written. Of each line 44 bytes are stored to: a
// whole sector, which is written as it is, and a part of another, which is read first.
TEST(DramTraffic, of_whole_sectors_beside_parts_is_read_for_the_parts_alone) {
    Plan plan;
    plan.program = make_formula_program(
        std::make_shared<ParsedFormula>(parse_formula("a[i] if lane < 11", {})),
        {.op = Op::store, .shape = {.size_bytes = 256 * mib, .block = 1024}, .values = {}});
    const DramTraffic dram = dram_of_stores(plan, 1 << 22);
    EXPECT_NEAR(dram.read.bytes, 65.2e6, 0.03 * 65.2e6);
    EXPECT_NEAR(dram.write.bytes, 124.4e6, 0.03 * 124.4e6);
}

// Of two warps of a block one stores whole sectors, the other a quarter of its lanes: the same
// bytes whichever comes first.
TEST(DramTraffic, of_whole_sectors_beside_parts_does_not_depend_on_which_warp_stores_them) {
    const auto read = [](const char* condition) {
        Plan plan;
        plan.program = make_formula_program(
            std::make_shared<ParsedFormula>(parse_formula(condition, {})),
            {.op = Op::store, .shape = {.size_bytes = 256 * mib, .block = 64}, .values = {}});
        return dram_of_stores(plan, 1 << 22).read.bytes;
    };
    const double first = read("a[i] if tid < 32 || lane % 8 == 0");
    EXPECT_NEAR(first, read("a[i] if tid >= 32 || lane % 8 == 0"), 0.1 * first);
    EXPECT_NEAR(first, 128.0 * mib, 0.1 * 128 * mib);  // the sectors of every second warp
}

// 196 bytes apart. A fetch of 64 bytes is alone on its line, and of 11 such places 8 have one; 128
// bytes are a whole line, which takes no longer for being alone (measured on an H200: 4.55 TB/s).
TEST(DramTraffic, of_whole_lines_is_as_dense_as_a_stream) {
    const Plan plan = plan_of("stride", 49, Op::load, 64 * mib);
    const std::vector<ArrayReach> arrays = reaches_of(plan.program);
    const auto density = [&](std::uint64_t fetch_bytes) {
        return dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .fetch_bytes = fetch_bytes},
                            shares_of_h200())
            .read.density;
    };
    EXPECT_NEAR(density(64), 64.0 / 196, 0.01);
    EXPECT_EQ(density(128), 1);
}

// A float of every 64 bytes: two sectors a line, each alone in its burst, are one burst of each of
// 2^23 lines, as dense as half of a stream.
TEST(DramTraffic, of_sectors_alone_in_their_bursts_is_a_burst_for_each_line) {
    const DramFlow read = dram_of(plan_of("stride", 16, Op::store, 64 * mib)).read;
    EXPECT_NEAR(read.bytes / 32, 1 << 24, 0.03 * (1 << 24));
    EXPECT_NEAR(read.bursts / (read.bytes / 32), 0.5, 0.01);
    EXPECT_NEAR(read.density, 0.5, 0.01);
}

// Measured on an H100: floats 64 bytes apart, a sector each, come at 2.9 TB/s, as a stream does:
// two sectors of a line take as long as one burst.
TEST(DramTraffic, of_lone_sectors_fetched_is_a_burst_for_each_line) {
    const std::vector<ArrayReach> arrays =
        reaches_of(plan_of("stride", 16, Op::load, 64 * mib).program);
    const DramFlow read =
        dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .fetch_bytes = 32}, shares_of_h200()).read;
    EXPECT_EQ(read.bytes, 512.0 * mib);
    EXPECT_EQ(read.bursts, 512.0 * mib / 64);
}

TEST(DramTraffic, of_a_warm_launch_that_fits_l2_is_next_to_nothing) {
    EXPECT_LT(dram_of(plan_of("offset", 0, Op::load, 16 * mib), true).read.bytes, 0.01 * mib);
    EXPECT_NEAR(dram_of(plan_of("offset", 0, Op::load, 256 * mib), true).read.bytes, 256.0 * mib,
                mib);
}

// Windows of a sample that meet by the formula's own rule say that few lines are touched; the
// sectors say that all are.
TEST(Reach, of_lines_is_no_less_than_that_of_their_sectors) {
    const Plan plan = formula_plan("(i*16321) % n", ElementType::f32,
                                   {.size_bytes = 96 * mib, .block = 1024, .per_thread = 2});
    const Reach reach = reaches_of(plan.program).front().loads;
    EXPECT_GE(reach.units[1], reach.units[0] / 2);
    EXPECT_GE(reach.units[2], reach.units[1] / 2);
}

// 63,883 and n have no divisor in common: every byte once, and so every sector. Measured on an
// H100: 6.4 GB are read, of 20 MB that windows of neighbouring threads tell of.
TEST(Reach, of_places_that_follow_a_rule_is_told_from_threads_drawn_one_by_one) {
    const Plan plan = formula_plan("(i*63883) % n", ElementType::u8,
                                   {.size_bytes = 96 * mib, .block = 512, .per_thread = 4});
    const Reach reach = reaches_of(plan.program).front().loads;
    EXPECT_NEAR(reach.units[0], 96.0 * mib / 32, 0.05 * 96 * mib / 32);
}

}  // namespace
}  // namespace coalprof
