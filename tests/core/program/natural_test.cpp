// Kernels as people write them ask for what an H100 counted (tests/data/kernels/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "core/kernel/kernel_points.h"
#include "core/program/natural_launches.h"
#include "core/sim/block_trace.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

std::array<std::uint64_t, 4> sums_of(const Code& code, const Executed& result) {
    std::array<std::uint64_t, 4> sums{};
    for (std::size_t i = 0; i < code.sites.size(); ++i) {
        const SiteCounts& one = result[i];
        if (one.space != Space::global || !is_load_or_store(code.sites[i].kind)) continue;
        const std::size_t at = code.sites[i].kind == AccessKind::load ? 0 : 2;
        sums[at] += one.global.requests;
        sums[at + 1] += one.global.sectors;
    }
    return sums;
}

TEST(Kernels, as_people_write_them_ask_for_what_an_h100_counted) {
    const PtxModule module = natural_module();
    std::size_t judged = 0;
    for (const NaturalLaunch& launch : natural_launches()) {
        if (judged++ % fewer_cases != 0) continue;
        const PtxFunction* kernel = kernel_named(module, launch.kernel);
        ASSERT_TRUE(kernel) << launch.kernel;
        Code code = make_code(module, *kernel);
        BoundLaunch bound = bind(code, launch);
        EXPECT_EQ(sums_of(code, executed(code, bound.launch, bound.memory)), launch.counted)
            << launch.kernel;
    }
    EXPECT_EQ(judged, 23u);
}

// No rate was fitted to these. Those that take longest to execute are left out.
TEST(Kernels, as_people_write_them_take_about_as_long_as_on_an_h100) {
    const PtxModule module = natural_module();
    std::vector<double> factors;
    for (const NaturalLaunch& launch : natural_launches()) {
        constexpr std::array<std::string_view, 9> quick{
            "aos_update", "column_pack", "conv3x3",         "reverse",    "rgb2gray",
            "saxpy4",     "stencil5",    "transpose_naive", "wrong_order"};
        if (std::ranges::find(quick, launch.kernel) == quick.end()) continue;
        Code code = make_code(module, *kernel_named(module, launch.kernel));
        BoundLaunch bound = bind(code, launch);
        const KernelResult result =
            predict_kernel(code, bound.launch, bound.memory, find_machine("h100"), {});
        const Readings& predicted = result.points.front().predicted;
        const double seconds = number_in(predicted[Counter::duration_seconds]);
        factors.push_back(std::max(seconds / launch.seconds, launch.seconds / seconds));
        EXPECT_LT(factors.back(), 1.6) << launch.kernel;
        EXPECT_NEAR(number_in(predicted[Counter::dram_read_bytes]), launch.dram_read_bytes,
                    0.1 * launch.dram_read_bytes)
            << launch.kernel;
        EXPECT_NEAR(number_in(predicted[Counter::l1_hit_sectors]), launch.l1_hit_sectors,
                    0.02 * launch.l1_hit_sectors)
            << launch.kernel;
        // Nine of ten measured hits of the catalog are 0.75 to 1.12 times the predicted ones
        // (docs/accuracy.md), and at most what is loaded. Whole numbers: of the value, then of its
        // end.
        if (const Interval* hits = result.points.front().estimates->of(Counter::l1_hit_sectors)) {
            const double value = number_in(predicted[Counter::l1_hit_sectors]);
            EXPECT_NEAR(hits->low, 0.75 * value, 2) << launch.kernel;
            const double loaded = number_in(predicted[Counter::load_sectors]);
            EXPECT_NEAR(hits->high, std::min(1.12 * value, loaded), 2) << launch.kernel;
        }
    }
    ASSERT_EQ(factors.size(), 9u);
    std::ranges::sort(factors);
    EXPECT_LT(factors[4], 1.25);
}

// A sparse matrix of 27 entries a row, a thread for each row: what L1 does not keep comes to L2
// again and again, and no longer finds it there when the matrix is as large as L2. Measured on an
// H100 (docs/measurements/h100/rows.txt).
TEST(Kernels, do_not_jump_where_their_data_are_as_large_as_l2) {
    struct Step {
        std::uint32_t rows;
        double seconds, dram_read_bytes;
    };
    const std::array steps{Step{102'400, 16.4e-6, 23.0e6}, Step{256'000, 58.4e-6, 138e6}};
    const PtxModule module = natural_module();
    Code code = make_code(module, *kernel_named(module, "csr_scalar"));
    for (const Step& step : steps) {
        const std::string rows = std::to_string(step.rows);
        BoundLaunch bound = bind(code, {.kernel = "csr_scalar",
                                        .grid = {step.rows / 256, 1, 1},
                                        .block = {256, 1, 1},
                                        .arguments = {"0=ptr", "1=col"},
                                        .counted = {}});
        const Readings predicted =
            predict_kernel(code, bound.launch, bound.memory, find_machine("h100"), {})
                .points.front()
                .predicted;
        EXPECT_NEAR(number_in(predicted[Counter::duration_seconds]), step.seconds,
                    0.3 * step.seconds)
            << rows;
        EXPECT_NEAR(number_in(predicted[Counter::dram_read_bytes]), step.dram_read_bytes,
                    0.3 * step.dram_read_bytes)
            << rows;
    }
}

// Three of a stencil's seven words are adjacent: one of these can begin a sector. On an H100
// aligned rows gain nothing.
TEST(Kernels, words_beside_each_other_are_not_aligned_at_once) {
    const PtxModule module = natural_module();
    Code code = make_code(module, *kernel_named(module, "stencil7"));
    BoundLaunch bound = bind(code, {.kernel = "stencil7",
                                    .grid = {16, 128, 256},
                                    .block = {32, 4, 2},
                                    .arguments = {},
                                    .counted = {}});
    const BlockTraces traces =
        trace_blocks(code, bound.launch, bound.memory, find_machine("h100"), {5000},
                     SiteMends(code.sites.size(), {SiteMend::Kind::adjacent}));
    for (const WarpEvents& warp : traces.blocks.front()) {
        int sectors = 0;
        for (const TraceEvent& event : warp.events)
            for (std::uint32_t i = 0; event.unit == TraceUnit::load && i < event.lines; ++i)
                sectors += std::popcount(traces.lines[event.first_line + i].sectors);
        EXPECT_EQ(sectors, 5 * 4 + 2 * 5);
    }
}

// Small grids of odd sizes, so that blocks at the ends differ.
TEST(Kernels, come_to_the_same_whether_blocks_are_executed_together_or_one_by_one) {
    const PtxModule module = natural_module();
    std::size_t number = 0;
    for (const NaturalLaunch& launch : natural_launches()) {
        if (number++ % fewer_cases != 0) continue;
        Code code = make_code(module, *kernel_named(module, launch.kernel));
        BoundLaunch bound = bind(code, launch);
        for (std::size_t d = 0; d < 3; ++d)
            bound.launch.grid[d] = std::min(launch.grid[d], std::array{13u, 5u, 3u}[d]);
        const Executed together = executed(code, bound.launch, bound.memory);
        const Executed alone = executed_one_by_one(code, bound.launch, bound.memory);
        for (std::size_t i = 0; i < code.sites.size(); ++i) {
            EXPECT_EQ(together[i].warps, alone[i].warps) << launch.kernel << " " << i;
            EXPECT_EQ(together[i].global.sectors, alone[i].global.sectors)
                << launch.kernel << " " << i;
            EXPECT_EQ(together[i].global.lines, alone[i].global.lines) << launch.kernel << " " << i;
            EXPECT_EQ(together[i].shared.wavefronts, alone[i].shared.wavefronts)
                << launch.kernel << " " << i;
        }
    }
}

}  // namespace
}  // namespace coalprof
