// Launches of formulas, simulated: what natural kernels that say the same were measured to do.
#include <gtest/gtest.h>

#include "core/traffic/launches.h"

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
    EXPECT_NEAR(estimate_of(plan, "h100", CacheState::cold, Counter::dram_read_bytes) / once, 1,
                0.05);
}

TEST(PlanTime, is_no_shorter_than_what_device_memory_takes) {
    LaunchShape shape;
    shape.size_bytes = std::uint64_t{64} << 20;
    const Plan plan = formula_plan(
        "load: p[i*5]; load: p[i*5+3]; store: p[i*5]; load: p[i*5+1]; load: p[i*5+4]; "
        "store: p[i*5+1]; load: p[i*5+2]; store: p[i*5+2]",
        ElementType::f32, shape);
    const double moved = estimate_of(plan, "h100", CacheState::cold, Counter::dram_read_bytes) +
                         estimate_of(plan, "h100", CacheState::cold, Counter::dram_write_bytes);
    EXPECT_GT(launch_seconds(plan, "h100", CacheState::cold),
              moved / find_machine("h100").board->peak_bytes_per_second);
}

// Measured on an H100: 95.7 MiB of a stream beside a window of its array.
TEST(PlanTime, of_two_loads_of_one_array_reads_what_both_do) {
    LaunchShape shape;
    shape.size_bytes = std::uint64_t{96} << 20;
    const Plan plan =
        formula_plan("load: a[i]; load: a[67108864+i%256]; store: b[i]", ElementType::f32, shape);
    EXPECT_NEAR(estimate_of(plan, "h100", CacheState::cold, Counter::dram_read_bytes), 95.7 * mib,
                3 * mib);
}

// Where L2 holds what the same launch left there, nothing is read.
TEST(PlanTime, of_a_warm_launch_reads_nothing_that_fits) {
    LaunchShape shape;
    shape.size_bytes = std::uint64_t{4} << 20;
    const Plan plan =
        formula_plan("load: a[i*2]; load: a[i*2+1]; store: b[i]", ElementType::f32, shape);
    EXPECT_EQ(estimate_of(plan, "h100", CacheState::warm, Counter::dram_read_bytes), 0);
    EXPECT_GT(estimate_of(plan, "h100", CacheState::cold, Counter::dram_read_bytes), 8e6);
}

}  // namespace
}  // namespace coalprof
