// Two launchers in one process, on scripted tables: each works in its own GPU's context, and gives
// back there what it made there.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>

#include "core/run/fake_device.h"
#include "core/run/runs.h"
#include "core/sweep/sweep.h"
#include "kernels/fake_driver.h"
#include "kernels/fake_kernels.h"
#include "kernels/launcher.h"

namespace coalprof {
namespace {

SweepPoints three_offsets() {
    Sweep sweep;
    sweep.pattern = "offset";
    sweep.values = {0, 1, 2};
    sweep.launch.shape.size_bytes = 1024;
    sweep.machines = {find_machine("h200")};
    return SweepPoints(std::move(sweep));
}

// Tells the kernels that play which plan they are to play. Each GPU has its own.
class Played : public KernelLauncher {
 public:
    Played(std::unique_ptr<KernelLauncher> launcher, FakeKernels& kernels)
        : launcher_(std::move(launcher)), kernels_(kernels) {}
    // Those of the GPU that the calling thread works on.
    static FakeKernels*& playing() {
        static thread_local FakeKernels* kernels = nullptr;
        return kernels;
    }
    const DeviceFacts& device() const override { return launcher_->device(); }
    void activate() override {
        launcher_->activate();
        playing() = &kernels_;
    }
    std::uint64_t pitch_bytes(std::uint64_t bytes) override {
        return launcher_->pitch_bytes(bytes);
    }
    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) override {
        kernels_.expect(plan);
        return launcher_->prepare(plan);
    }
    std::unique_ptr<PreparedLaunch> prepare_warp(const WarpAccess& access) override {
        return launcher_->prepare_warp(access);
    }
    void flush_cache() override { launcher_->flush_cache(); }
    void start_anew() override { launcher_->start_anew(); }
    double read_ceiling() override { return launcher_->read_ceiling(); }
    double copy_ceiling() override { return launcher_->copy_ceiling(); }
    CycleReadings read_cycles() override { return launcher_->read_cycles(); }

 private:
    std::unique_ptr<KernelLauncher> launcher_;
    FakeKernels& kernels_;
};

TEST(SeveralDevices, each_work_in_their_own_context) {
    FakeGpu gpu;
    gpu.devices = 2;
    FakeKernels kernels[2]{FakeKernels(gpu), FakeKernels(gpu)};
    gpu.play = [](const FakeLaunch& launch) {
        if (Played::playing()) Played::playing()->play(launch);
    };
    fake::Recorder result;
    {
        std::array<std::unique_ptr<Played>, 2> launchers;
        SweepPoints points[2]{three_offsets(), three_offsets()};
        std::deque<DeviceBackend> backends;
        std::vector<Leg> legs;
        for (int index = 0; index < 2; ++index) {
            launchers[index] = std::make_unique<Played>(
                make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), {.device = index, .ahead = {}}),
                kernels[index]);
            backends.emplace_back(DeviceRun{.launcher = *launchers[index],
                                            .collector = nullptr,
                                            .no_counters = "not asked for",
                                            .wanted = wants({Counter::load_sectors}),
                                            .accesses = points[index].check(),
                                            .repeats = 1,
                                            .is_one_of_several = true});
            legs.push_back({points[index], backends[index]});
        }
        EXPECT_EQ(run_points(legs, {}, result), ExitCode::done);
        launchers[0].reset();  // while the other one's context is current
    }
    EXPECT_EQ(gpu.strays, std::vector<std::string>{});
    EXPECT_EQ(gpu.live(), 0);
    ASSERT_EQ(result.points.size(), 6u);
    for (const Point& point : result.points) {
        EXPECT_EQ(point.failure, "");
        EXPECT_TRUE(is_number((*point.measured)[Counter::bandwidth_share]));
    }
}

}  // namespace
}  // namespace coalprof
