// A launch that takes too many steps: a sample of its blocks, and intervals.
#include <gtest/gtest.h>

#include "core/kernel/kernel_points.h"
#include "core/program/sample_kernels.h"

namespace coalprof {
namespace {

// Block b takes b % 8 + 1 rounds, each a load; where it loads depends on an array, so that no two
// blocks go the same way.
const std::string uneven =
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nand.b32 %r3, %r2, 7;\n"
    "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmul.wide.u32 %rd3, %r2, 4;\n"
    "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r5, [%rd4];\nadd.u32 %r6, %r5, %r1;\n"
    "mul.wide.u32 %rd5, %r6, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"
    "LOOP:\nld.global.f32 %r30, [%rd6];\nsub.s32 %r3, %r3, 1;\nsetp.ge.s32 %p1, %r3, 0;\n"
    "@%p1 bra LOOP;\nret;\n";

KernelResult predicted(std::uint64_t steps_before_sampling, std::size_t threads,
                       std::uint32_t block = 32) {
    Code code = code_of(ptx_of(uneven, 2));
    BoundLaunch bound = bind_arguments(code, {"0=f32[8192]", "1=u32[4096]=random"});
    bound.launch.grid = {4096, 1, 1};
    bound.launch.block = {block, 1, 1};
    return predict_kernel(
        code, bound.launch, bound.memory, find_machine("h200"),
        {.limits = {.steps_before_sampling = steps_before_sampling}, .threads = threads});
}

TEST(Samples, give_intervals_that_hold_what_all_blocks_come_to) {
    const KernelResult all = predicted(~std::uint64_t{0}, 2);
    const KernelResult sample = predicted(20'000, 2);
    EXPECT_TRUE(all.warnings.empty());
    ASSERT_EQ(sample.warnings.size(), 1u);
    EXPECT_EQ(sample.warnings.front().code, "W-SAMPLED");
    ASSERT_EQ(sample.points.size(), all.points.size());
    const Point& point = sample.points.front();
    ASSERT_TRUE(point.estimates);
    ASSERT_TRUE(all.points.front().estimates);
    EXPECT_FALSE(all.points.front().estimates->of(Counter::load_sectors));
    for (const Counter counter : {Counter::load_requests, Counter::load_sectors}) {
        const Interval* interval = point.estimates->of(counter);
        ASSERT_TRUE(interval);
        const double truth = number_in(all.points.front().predicted[counter]);
        EXPECT_LE(interval->low, truth);
        EXPECT_GE(interval->high, truth);
        EXPECT_NEAR(number_in(point.predicted[counter]), truth, 0.2 * truth);
    }
}

// Both come from the same simulation of L1, so their intervals are equally wide.
TEST(Estimates, of_passes_of_loads_are_as_wide_as_those_of_all_passes) {
    const Point point = predicted(~std::uint64_t{0}, 1).points.front();
    ASSERT_TRUE(point.estimates);
    const auto share = [&](Counter counter, double Interval::*end) {
        return point.estimates->of(counter)->*end / number_in(point.predicted[counter]);
    };
    for (double Interval::*const end : {&Interval::low, &Interval::high})
        EXPECT_NEAR(share(Counter::load_data_wavefronts, end), share(Counter::l1_passes, end),
                    1e-3);
}

std::vector<std::uint64_t> addresses_of(const std::vector<WarpAccess>& warps) {
    std::vector<std::uint64_t> all;
    for (const WarpAccess& warp : warps)
        all.insert(all.end(), warp.addresses.begin(), warp.addresses.end());
    return all;
}

// What L2 is seen of and which warps are kept, too: threads take boxes as they come.
TEST(Samples, are_the_same_with_any_number_of_threads) {
    for (const std::uint64_t steps : {std::uint64_t{20'000}, ~std::uint64_t{0}}) {
        const KernelResult one = predicted(steps, 1, 256);
        const KernelResult four = predicted(steps, 4, 256);
        ASSERT_EQ(one.points.size(), four.points.size());
        for (std::size_t i = 0; i < one.points.size(); ++i) {
            one.points[i].predicted.each([&](Counter counter, const Reading& reading) {
                EXPECT_EQ(reading, four.points[i].predicted[counter]) << key_of(counter);
            });
            EXPECT_EQ(addresses_of(one.warps[i]), addresses_of(four.warps[i]));
        }
        ASSERT_EQ(one.findings.size(), four.findings.size());
        for (std::size_t i = 0; i < one.findings.size(); ++i)
            EXPECT_EQ(one.findings[i].text, four.findings[i].text);
    }
}

}  // namespace
}  // namespace coalprof
