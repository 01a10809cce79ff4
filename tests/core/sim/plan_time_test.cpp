// Launches of formulas, simulated: what natural kernels that say the same were measured to do.
#include <gtest/gtest.h>

#include "core/sim/launches.h"

namespace coalprof {
namespace {

Plan formula_in_rows(const std::string& text, const Dimensions& block, const Dimensions& grid) {
    LaunchShape shape;
    shape.block = static_cast<std::uint32_t>(block.count());
    shape.block_shape = block;
    shape.grid = grid;
    shape.size_bytes = block.count() * grid.count() * 4;
    return formula_plan(text, ElementType::f32, shape);
}

// Rows that blocks above each other share are in L2 when the later one comes: u and its border are
// read once.
TEST(PlanTime, of_a_stencil_reads_rows_once_that_blocks_share) {
    const Plan plan = formula_in_rows(
        "x=blockIdx.x*32+threadIdx.x+1; y=blockIdx.y*4+threadIdx.y+1; "
        "z=blockIdx.z*2+threadIdx.z+1; "
        "c=(z*258+y)*258+x; u[c]; u[c-1]; u[c+1]; u[c-258]; u[c+258]; u[c-258*258]; u[c+258*258]; "
        "store: v[c]",
        {32, 4, 2}, {8, 64, 128});
    const double once = 258.0 * 258 * 258 * 4;
    EXPECT_NEAR(estimated(plan, "h100").at(Counter::dram_read_bytes) / once, 1, 0.05);
}

// 32 floats are a line; 27 are not. Which lines are sampled changes the time of random ones.
TEST(PlanTime, of_launches_that_are_whole_lines_apart_is_the_same) {
    const auto seconds = [](const std::string& index) {
        LaunchShape shape;
        shape.size_bytes = std::uint64_t{64} << 20;
        return estimated(formula_plan("store: a[" + index + "]", ElementType::f32, shape), "h200")
            .seconds();
    };
    EXPECT_EQ(seconds("hash(i, n) + 37"), seconds("hash(i, n) + 5"));
    EXPECT_NE(seconds("hash(i, n) + 37"), seconds("hash(i, n) + 10"));
}

TEST(PlanTime, is_no_shorter_than_what_device_memory_takes) {
    LaunchShape shape;
    shape.size_bytes = std::uint64_t{64} << 20;
    const Plan plan = formula_plan(
        "load: p[i*5]; load: p[i*5+3]; store: p[i*5]; load: p[i*5+1]; load: p[i*5+4]; "
        "store: p[i*5+1]; load: p[i*5+2]; store: p[i*5+2]",
        ElementType::f32, shape);
    const double moved = estimated(plan, "h100").at(Counter::dram_read_bytes) +
                         estimated(plan, "h100").at(Counter::dram_write_bytes);
    EXPECT_GT(estimated(plan, "h100").seconds(),
              moved / find_machine("h100").board->peak_bytes_per_second);
}

// Measured on an H100: 95.7 MiB of a stream beside a window of its array.
TEST(PlanTime, of_two_loads_of_one_array_reads_what_both_do) {
    LaunchShape shape;
    shape.size_bytes = std::uint64_t{96} << 20;
    const Plan plan =
        formula_plan("load: a[i]; load: a[67108864+i%256]; store: b[i]", ElementType::f32, shape);
    EXPECT_NEAR(estimated(plan, "h100").at(Counter::dram_read_bytes), 95.7 * mebibyte,
                3 * mebibyte);
}

// Where L2 holds what the same launch left there, nothing is read.
TEST(PlanTime, of_a_warm_launch_reads_nothing_that_fits) {
    LaunchShape shape;
    shape.size_bytes = std::uint64_t{4} << 20;
    const Plan plan =
        formula_plan("load: a[i*2]; load: a[i*2+1]; store: b[i]", ElementType::f32, shape);
    EXPECT_EQ(estimated(plan, "h100", CacheState::warm).at(Counter::dram_read_bytes), 0);
    EXPECT_GT(estimated(plan, "h100").at(Counter::dram_read_bytes), 8e6);
}

double mib_of(const Estimated& one, Counter counter) { return one.at(counter) / mebibyte; }

// A fetch of 64 bytes for each element, 80 bytes apart.
TEST(PlanTime, of_a_sparse_load_reads_a_fetch_for_each_element) {
    EXPECT_NEAR(mib_of(estimated(plan_of("stride", 20, Op::load, 16 * mebibyte), "h200"),
                       Counter::dram_read_bytes),
                256, 3);
}

// Whole sectors are not read before they are written; what L2 keeps dirty is not written while the
// launch runs. Measured on an H200: 28.4 MiB left of 256.
TEST(PlanTime, of_whole_sectors_stored_writes_what_l2_cannot_keep) {
    const Estimated one = estimated(plan_of("offset", 0, Op::store, 256 * mebibyte), "h200");
    EXPECT_EQ(one.at(Counter::dram_read_bytes), 0);
    EXPECT_NEAR(mib_of(one, Counter::dram_write_bytes), 256 - 28.4, 2);
}

// Sectors stored in part are read to complete them.
TEST(PlanTime, of_parts_of_sectors_stored_reads_them_as_well) {
    const Estimated one = estimated(plan_of("stride", 33, Op::store, 64 * mebibyte), "h200");
    EXPECT_NEAR(mib_of(one, Counter::dram_read_bytes), 512, 15);
    EXPECT_NEAR(mib_of(one, Counter::dram_write_bytes), 512, 15);
}

// Measured on an H200: 65.2 MB are read and 124 MB written. Of each line 44 bytes are stored to: a
// whole sector, which is written as it is, and a part of another, which is read first.
TEST(PlanTime, of_whole_sectors_beside_parts_reads_the_parts_alone) {
    const Estimated one =
        estimated(formula_plan("a[i] if lane < 11", ElementType::f32,
                               {.size_bytes = 256 * mebibyte, .block = 1024}, Op::store),
                  "h200");
    EXPECT_NEAR(one.at(Counter::dram_read_bytes), 65.2e6, 0.05 * 65.2e6);
    EXPECT_NEAR(one.at(Counter::dram_write_bytes), 124.4e6, 0.05 * 124.4e6);
}

// Measured on an H100, 96 MiB of f64: 102.3 MB. What three places share is fetched once.
TEST(PlanTime, of_a_wide_stencil_reads_its_array_once) {
    const Estimated one = estimated(
        formula_plan("load: a[max(i-3463,0)]; load: a[i]; load: a[min(i+3463,n-1)]; store: b[i]",
                     ElementType::f64, {.size_bytes = 96 * mebibyte}),
        "h100");
    EXPECT_NEAR(one.at(Counter::dram_read_bytes), 102.3e6, 0.03 * 102.3e6);
}

// 256 MiB, and as many 128 MiB further on: when the first load comes to the 128 MiB that both have
// in common, L2 holds nothing of what the second one loaded there.
TEST(PlanTime, of_two_loads_far_apart_reads_again_what_both_load) {
    const Estimated one = estimated(formula_plan("load: a[i]; load: a[i+33554432]",
                                                 ElementType::f32, {.size_bytes = 256 * mebibyte}),
                                    "h100");
    EXPECT_NEAR(mib_of(one, Counter::dram_read_bytes), 512, 5);
}

// Measured on an H200: `a[i*k] += 1` of 16.8 million
// floats takes 70.5, 264 and 831 us for k = 2, 8 and 32, a load alone 44.1, 117.8 and 260.
TEST(PlanTime, of_strides_is_what_an_h200_took) {
    const auto seconds = [](std::uint64_t stride, Op op) {
        return estimated(plan_of("stride", stride, op, 64 * mebibyte), "h200").seconds();
    };
    EXPECT_NEAR(seconds(2, Op::rmw), 70.5e-6, 0.15 * 70.5e-6);
    EXPECT_NEAR(seconds(8, Op::rmw), 264e-6, 0.15 * 264e-6);
    EXPECT_NEAR(seconds(32, Op::rmw), 831e-6, 0.15 * 831e-6);
    EXPECT_NEAR(seconds(2, Op::load), 44.1e-6, 0.15 * 44.1e-6);
    EXPECT_NEAR(seconds(8, Op::load), 117.8e-6, 0.15 * 117.8e-6);
    EXPECT_NEAR(seconds(32, Op::load), 260e-6, 0.15 * 260e-6);
}

}  // namespace
}  // namespace coalprof
