// --alloc, --path and the ceilings on a real GPU. Skipped with the reason where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/count/predict.h"
#include "core/run/agreement.h"
#include "core/run/fake_device.h"
#include "core/run/runs.h"
#include "core/sweep/sweep.h"
#include "gpu/on_gpu.h"

namespace coalprof {
namespace {

constexpr const char* allocations = "device,static,managed,host";
constexpr const char* paths = "ld,ldg,tex";

class MemoryOnGpu : public GpuTest {
 protected:
    static Sweep sweep(Op op, ElementType type = ElementType::f32) {
        Sweep sweep;
        sweep.pattern = "offset";
        sweep.values = {0, 1, 8};
        sweep.launch.op = op;
        sweep.launch.type = type;
        sweep.launch.shape.size_bytes = 1 << 20;
        sweep.machines = {find_machine("h200")};
        return sweep;
    }

    // Every point verified against the reference, and timed.
    fake::Recorder run(const Sweep& sweep, std::vector<Counter> wanted = {}) {
        fake::Recorder result;
        const std::string no_counters = wanted.empty() ? std::string{} : why_no_counters();
        if (!no_counters.empty()) {
            fmt::print("no counters: {}\n", no_counters);
            wanted.clear();
        }
        SweepPoints points(sweep);
        run_on_device(points,
                      {.launcher = launcher(),
                       .collector = wanted.empty() ? nullptr : &collector(),
                       .no_counters = no_counters,
                       .wanted = wants(wanted),
                       .repeats = 5},
                      result);
        return result;
    }
};

TEST_F(MemoryOnGpu, data_are_right_wherever_they_lie) {
    for (const Op op : {Op::rmw, Op::copy, Op::add, Op::reduce}) {
        Sweep everywhere = sweep(op);
        take_option(everywhere, "alloc", allocations);
        for (const Point& point : run(everywhere).points)
            EXPECT_EQ(point.failure, "") << name_of(op) << " " << point.name;
    }
}

TEST_F(MemoryOnGpu, data_are_right_on_every_path_from_everywhere) {
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f32x4}) {
        Sweep all = sweep(Op::add, type);
        take_option(all, "alloc", allocations);
        take_option(all, "path", paths);
        for (const Point& point : run(all).points)
            EXPECT_EQ(point.failure, "") << name_of(type) << " " << point.name;
    }
}

// Whatever is predicted of these paths and places is what the hardware counts.
TEST_F(MemoryOnGpu, counters_are_as_predicted_on_every_path_from_everywhere) {
    Sweep all = sweep(Op::copy);
    take_option(all, "alloc", allocations);
    take_option(all, "path", paths);
    const std::vector<Counter> wanted{Counter::load_requests,    Counter::load_sectors,
                                      Counter::l1_hit_sectors,   Counter::store_sectors,
                                      Counter::texture_requests, Counter::texture_sectors,
                                      Counter::l2_read_sectors,  Counter::texture_hit_sectors,
                                      Counter::l2_read_requests, Counter::l2_write_sectors};
    for (const Point& point : run(all, wanted).points) {
        if (!point.measured) continue;
        for (const Disagreement& found : agreement_of(point).disagreements)
            ADD_FAILURE() << point.name << " " << describe(found);
        const Reading& sectors = (*point.measured)[Counter::texture_sectors];
        if (is_number(sectors))
            fmt::print("{}: {} texture sectors\n", point.name, number_in(sectors));
    }
}

TEST_F(MemoryOnGpu, a_texture_that_would_be_too_wide_is_refused) {
    Sweep wide = sweep(Op::load);
    wide.values = {0};
    wide.launch.path = LoadPath::tex;
    wide.launch.shape.size_bytes = 2ull << 30;  // 2^29 texels of 4 bytes
    const fake::Recorder result = run(wide);
    EXPECT_NE(result.points.at(0).failure.find("--path tex: array a has 536870912 texels"),
              std::string::npos)
        << result.points[0].failure;
}

TEST_F(MemoryOnGpu, has_ceilings_and_prints_how_long_they_take) {
    const auto start = std::chrono::steady_clock::now();
    const double read = launcher().read_ceiling();
    const double copy = launcher().copy_ceiling();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fmt::print("read {:.0f} GB/s, copy {:.0f} GB/s in {:.3f} s\n", read / 1e9, copy / 1e9,
               taken.count());
    EXPECT_GT(read, 0);
    EXPECT_GT(copy, 0);
}

}  // namespace
}  // namespace coalprof
