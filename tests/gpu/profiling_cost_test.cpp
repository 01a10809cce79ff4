// What counting costs beside the launches, on a real GPU: printed, for whoever runs it, because no
// test may depend on timing. Skipped with the reason where there is no GPU or no permission.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "core/sweep/all_points.h"
#include "core/sweep/sweep.h"
#include "cupti/counter_set.h"
#include "gpu/on_gpu.h"

namespace coalprof {
namespace {

class ProfilingCost : public GpuTest {};

std::vector<PlannedPoint> offsets(std::uint64_t points) {
    Sweep sweep;
    sweep.pattern = "offset";
    for (std::uint64_t k = 0; k < points; ++k) sweep.values.push_back(k);
    sweep.machines = {find_machine("h200")};
    return all_points(SweepPoints(sweep));
}

// The classic sweep of 4 MiB, 33 points in one session and 256: the difference is what a further
// point costs. Launches are ready before: their preparation is no part of profiling.
TEST_F(ProfilingCost, prints_what_a_further_point_takes) {
    COALPROF_NEEDS_COUNTERS();
    for (const std::uint64_t count : {33u, 256u, 33u, 256u}) {
        const std::vector<PlannedPoint> points = offsets(count);
        const auto wanted =
            counters_of(CounterSet::basic, accesses_of(points.front().plan.program));
        std::unique_ptr<PreparedLaunch> launch;
        const auto readings = collector().collect(
            wanted, points.size(),
            [&](std::size_t k) {
                launch.reset();
                launch = launcher().prepare(points[k].plan);
            },
            [&](std::size_t) { launch->launch(); });
        EXPECT_EQ(readings.size(), count);
        const CollectTimes& times = collector().last_times();
        fmt::print(
            "{:3} points: set up {:.4f}, launches and their preparation {:.4f}, decode "
            "{:.4f}, evaluate {:.4f}, close {:.4f} s\n",
            count, times.set_up_seconds, times.sweep_seconds, times.decode_seconds,
            times.evaluate_seconds, times.close_seconds);
    }
    const auto points = offsets(256);
    const auto start = std::chrono::steady_clock::now();
    for (const PlannedPoint& point : points) launcher().prepare(point.plan)->launch();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fmt::print("256 launches and their preparation, not counted: {:.4f} s\n", taken.count());
}

}  // namespace
}  // namespace coalprof
