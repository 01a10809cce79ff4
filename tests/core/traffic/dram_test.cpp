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
    return dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .is_warm = is_warm}, L2Shares{});
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
                     {.l2_bytes = 60.0 * mib, .l2_write_sectors = 1 << 24}, L2Shares{});
    EXPECT_NEAR(dram.read.bytes / mib, 512, 1);
}

DramTraffic dram_of_stores(const Plan& plan, double l2_write_sectors) {
    return dram_traffic(reaches_of(plan.program),
                        {.l2_bytes = 60.0 * mib, .l2_write_sectors = l2_write_sectors}, L2Shares{});
}

// Measured on an H200 (256 MiB of 8 bytes, transposed as they come, width 512): 283 MB are written
// of 268 MB, of which 20 MB stay in L2, and 39 MB read to complete what came too late. A sector
// comes in 4 parts from rows far apart; those of an offset come from neighbouring warps and wait in
// vain for nothing.
TEST(DramTraffic, of_sectors_stored_in_parts_from_afar_is_written_more_than_once) {
    const Plan transpose =
        shaped(plan_of("transpose", 512, Op::copy, 256 * mib), ElementType::f32x2, 64);
    const DramTraffic dram = dram_of_stores(transpose, 1 << 25);
    EXPECT_NEAR(dram.write.bytes, 283e6, 0.05 * 283e6);
    EXPECT_NEAR(dram.read.bytes - 256.0 * mib, 39e6, 0.2 * 39e6);
    const Plan offset = shaped(plan_of("offset", 1, Op::store, 256 * mib), ElementType::u8, 256);
    EXPECT_LT(dram_of_stores(offset, 1 << 24).read.bytes, mib);
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

// Measured on an H200 (add of 3 x 32 MiB): 18.9 MB are written while the launch runs, as device
// memory has time; were it busy, 12 MB. What is only stored stays for longer.
TEST(DramTraffic, of_idle_memory_takes_dirty_lines_early) {
    const auto written_on = [](const Plan& plan, double busy) {
        return dram_traffic(reaches_of(plan.program), {.l2_bytes = 60.0 * mib, .busy_share = busy},
                            L2Shares{})
            .write.bytes;
    };
    const Plan add = plan_of("offset", 0, Op::add, 32 * mib);
    EXPECT_NEAR(written_on(add, 0.6), 18.9e6, 1.5e6);
    EXPECT_NEAR(written_on(add, 1), 12.2e6, 1e6);
    const Plan store = plan_of("offset", 0, Op::store, 64 * mib);
    EXPECT_EQ(written_on(store, 0.2), written_on(store, 1));
}

// 196 bytes apart. A fetch of 64 bytes is alone on its line, and of 11 such places 8 have one; 128
// bytes are a whole line, which takes no longer for being alone (measured on an H200: 4.55 TB/s).
TEST(DramTraffic, of_whole_lines_is_as_dense_as_a_stream) {
    const Plan plan = plan_of("stride", 49, Op::load, 64 * mib);
    const std::vector<ArrayReach> arrays = reaches_of(plan.program);
    const auto density = [&](std::uint64_t fetch_bytes) {
        return dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .fetch_bytes = fetch_bytes},
                            L2Shares{})
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
        dram_traffic(arrays, {.l2_bytes = 60.0 * mib, .fetch_bytes = 32}, L2Shares{}).read;
    EXPECT_EQ(read.bytes, 512.0 * mib);
    EXPECT_EQ(read.bursts, 512.0 * mib / 64);
}

// Measured on an H100: 363.6 MB are read (2 of 3 arrays of 32 MiB, drawn by lot). One alone would
// stay in L2 and be read once: 67 MB both.
TEST(DramTraffic, of_arrays_drawn_by_lot_shares_l2_among_them) {
    const Plan plan =
        shaped(plan_of("scatter", 32 * mib, Op::add, 16 * mib), ElementType::f32, 128);
    const DramTraffic dram = dram_traffic(
        reaches_of(plan.program),
        {.l2_bytes = 50.0 * mib, .is_warm = true, .l2_read_sectors = 8.4e6}, L2Shares{});
    EXPECT_NEAR(dram.read.bytes, 363.6e6, 0.15 * 363.6e6);
}

TEST(DramTraffic, of_a_warm_launch_that_fits_l2_is_next_to_nothing) {
    EXPECT_LT(dram_of(plan_of("offset", 0, Op::load, 16 * mib), true).read.bytes, 0.01 * mib);
    EXPECT_NEAR(dram_of(plan_of("offset", 0, Op::load, 256 * mib), true).read.bytes, 256.0 * mib,
                mib);
}

// Measured, warm: of 64 MiB of floats 43.5 MB are read on an H100 (50 MiB of L2); of a million
// lines with one float each 126 of 134 MB. Loads that push out older ones would read all of both.
TEST(DramTraffic, of_loads_that_leave_first_is_less_by_what_stays_behind_them) {
    const auto read = [](const Plan& plan) {
        return dram_traffic(reaches_of(plan.program),
                            {.l2_bytes = 50.0 * mib,
                             .fetch_bytes = 128,
                             .is_warm = true,
                             .loads_leave_first = true,
                             .l2_read_sectors = 2.2e6},
                            L2Shares{})
            .read.bytes;
    };
    EXPECT_NEAR(read(plan_of("offset", 20, Op::load, 64 * mib)), 43.5e6, 0.05 * 43.5e6);
    EXPECT_NEAR(read(plan_of("stride", 68, Op::load, 4 * mib)), 126e6, 0.05 * 126e6);
}

Plan loaded_to_leave_first(Plan plan) {
    plan.cache.dlcm = LoadModifier::cs;
    return plan;
}

double read_cold(const Plan& plan, const char* machine_name) {
    return estimate_of(plan, machine_name, CacheState::cold, Counter::dram_read_bytes);
}

// Measured on an H200: 400.2 MB for four million floats, each in a sector of its own, that are
// updated: a fetch of 64 bytes, and the sector once more for its store, before which it had to make
// room. Fetches alone are 268 MB.
TEST(DramTraffic, of_loads_that_leave_first_is_read_again_for_their_stores) {
    const Plan plan = shaped(plan_of("stride", 33, Op::rmw, 16 * mib), ElementType::f32, 64);
    EXPECT_NEAR(read_cold(loaded_to_leave_first(plan), "h200"), 400.2e6, 0.02 * 400.2e6);
}

// Measured: 174.1 MB for three million copies from 32 MiB (H200), which would stay in L2 if 48 MiB
// of stores did not push them out: 33.6 MB then. 40.1 MB for 25 million copies from 1 MiB, a line
// of which goes when a line is stored to its set (H100); 1.05 MB if none did.
TEST(DramTraffic, of_loads_that_leave_first_is_less_kept_beside_stores) {
    const Plan plan =
        shaped(plan_of("scatter", 32 * mib, Op::copy, 48 * mib, 4), ElementType::f32x4, 128);
    EXPECT_NEAR(read_cold(loaded_to_leave_first(plan), "h200"), 174.1e6, 0.1 * 174.1e6);
    const Plan few = plan_of("scatter", mib, Op::copy, 96 * mib);
    EXPECT_NEAR(read_cold(loaded_to_leave_first(few), "h100-sxm"), 40.1e6, 0.1 * 40.1e6);
}

// Measured on an H100: 797.5 MB for 25 million loads from 16 MiB where L2 is full of other lines,
// as before a cold launch; 2.4 MB after the same launch, whose lines L2 holds.
TEST(DramTraffic, of_loads_that_leave_first_is_less_kept_in_an_l2_that_is_full) {
    const Plan plan = loaded_to_leave_first(plan_of("scatter", 16 * mib, Op::load, 96 * mib));
    EXPECT_NEAR(read_cold(plan, "h100-sxm"), 797.5e6, 0.05 * 797.5e6);
    EXPECT_LT(estimate_of(plan, "h100-sxm", CacheState::warm, Counter::dram_read_bytes), 5e6);
}

// A line that is stored to takes the place of one other line: 134 MB were read for two million
// loads beside such a store (`load: a[i*33]; store: b[0]`, H100), 64 bytes for each.
TEST(DramTraffic, of_loads_that_leave_first_is_the_same_beside_a_single_store) {
    const auto read = [](const char* formula) {
        Plan plan = loaded_to_leave_first(
            formula_of(formula, 0, Op::load, ElementType::f32, 512 * mib, 256));
        return estimate_of(plan, "h100-sxm", CacheState::warm, Counter::dram_read_bytes);
    };
    const double alone = read("load: a[i]; load: a[i+1000000]");
    EXPECT_NEAR(read("load: a[i]; load: a[i+1000000]; store: b[0]"), alone, 0.01 * alone);
}

// Measured on an H100: 6.32 GB for 64 million floats far apart, four of a thread, that are updated:
// so much is loaded before the first is stored to that L2 has lost it. 4.05 GB would be, if
// loads alone fetched.
TEST(DramTraffic, of_more_under_way_than_l2_holds_is_read_again_for_their_stores) {
    const Plan plan = formula_of("(i*K) % n", 17935, Op::rmw, ElementType::f32, 256 * mib, 256, 4);
    EXPECT_NEAR(read_cold(plan, "h100-sxm"), 6.32e9, 0.1 * 6.32e9);
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
