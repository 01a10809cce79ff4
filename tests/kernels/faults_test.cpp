// Fails each driver call of a small sweep once, with each of several codes: no crash, the right
// kind of exception, nothing leaked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/device/device.h"
#include "core/pattern/memory_settings.h"
#include "kernels/driver_api.h"
#include "kernels/fake_driver.h"
#include "kernels/fake_kernels.h"
#include "kernels/launcher.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

enum class Ending { done, error, point, lost };

// One point after the other, as the program does it: a point that fails ends alone, a lost device
// ends all.
struct SmallSweep {
    int finished = 0;
    int failed = 0;
    Ending ending = Ending::done;

    void run(FakeGpu& gpu) {
        FakeKernels kernels(gpu);
        try {
            const auto launcher = make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), {});
            for (const std::uint64_t offset : {0u, 1u, 2u}) point(kernels, *launcher, offset);
            for (const Allocation allocation :
                 {Allocation::static_array, Allocation::managed, Allocation::host})
                point_elsewhere(kernels, *launcher, allocation);
            attempt([&] { launcher->pitch_bytes(480); });
            attempt([&] { launcher->prepare_warp(warp(Space::global))->launch(); });
            attempt([&] { launcher->prepare_warp(warp(Space::shared))->launch(); });
            attempt([&] { launcher->read_ceiling(); });
            attempt([&] { launcher->copy_ceiling(); });
            attempt([&] { launcher->read_cycles(); });
        } catch (const DeviceLostError&) {
            ending = Ending::lost;
        } catch (const PointError&) {
            ending = Ending::point;
        } catch (const Error&) {
            ending = Ending::error;
        }
    }

 private:
    static WarpAccess warp(Space space) {
        WarpAccess access;
        access.space = space;
        access.active_lanes = all_lanes;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            access.addresses[lane] = space == Space::shared ? 100'000 + 4 * lane : 256 * lane;
        return access;
    }
    template <typename Work>
    void attempt(Work work) {
        try {
            work();
            ++finished;
        } catch (const PointError&) {
            ++failed;
        }
    }
    void point(FakeKernels& kernels, KernelLauncher& launcher, std::uint64_t offset) {
        attempt([&] {
            Plan plan = plan_of("offset", offset, offset == 1 ? Op::atomic : Op::rmw,
                                ElementType::f32, 1, 4096);
            plan.cache.l2_fetch_bytes = 32;
            plan.cache.carveout = Carveout{.shared_percent = 50, .text = "50"};
            kernels.expect(plan);
            const auto launch = launcher.prepare(plan);
            launch->time(2, CacheState::cold);
            launch->verify();
            launcher.flush_cache();
            launch->launch();
            EXPECT_FALSE(launch->settings().architecture.empty());
        });
    }
    // Fetched through a texture, from memory of another kind.
    void point_elsewhere(FakeKernels& kernels, KernelLauncher& launcher, Allocation allocation) {
        attempt([&] {
            Plan plan = plan_of("offset", 1, Op::copy, ElementType::f32, 1, 4096);
            plan.allocation = allocation;
            plan.path = LoadPath::tex;
            apply_memory_settings(plan);
            kernels.expect(plan);
            const auto launch = launcher.prepare(plan);
            launch->launch();
            launch->verify();
        });
    }
};

struct SweepRun {
    SmallSweep sweep;
    std::uint64_t calls = 0;
    std::string failed_call;
    int live = 0;
};

SweepRun run_failing(std::uint64_t call, CUresult code) {
    SweepRun run;
    Script script;
    FakeGpu gpu;
    script.fail_call = call;
    script.fail_code = code;
    run.sweep.run(gpu);
    run.calls = script.calls();
    run.failed_call = script.failed_call();
    run.live = gpu.live();
    return run;
}

TEST(Faults, leave_the_other_points_alone_and_nothing_behind) {
    const SweepRun clean = run_failing(0, CUDA_SUCCESS);
    ASSERT_EQ(clean.sweep.ending, Ending::done);
    ASSERT_EQ(clean.sweep.finished, 11);
    ASSERT_EQ(clean.live, 0);
    ASSERT_GT(clean.calls, 200u);

    std::uint64_t faults = 0;
    for (const CUresult code :
         {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_SUPPORTED,
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED,
          CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_UNKNOWN}) {
        for (std::uint64_t call = 1; call <= clean.calls; ++call) {
            const SweepRun run = run_failing(call, code);
            SCOPED_TRACE(fmt::format("call {}, {}, with code {}", call, run.failed_call,
                                     static_cast<int>(code)));
            ++faults;
            EXPECT_EQ(run.live, 0);
            // PointErrors stay within their point.
            EXPECT_NE(run.sweep.ending, Ending::point);
            if (is_sticky(code)) {
                // Or the call was one whose failure harms nothing: asked for, released.
                EXPECT_TRUE(run.sweep.ending == Ending::lost || run.sweep.ending == Ending::error ||
                            run.sweep.failed <= 3);
            } else {
                EXPECT_NE(run.sweep.ending, Ending::lost);
                if (run.sweep.ending == Ending::done) {
                    EXPECT_EQ(run.sweep.finished + run.sweep.failed, 12);
                }
            }
        }
    }
    EXPECT_GT(faults, 1600u);
}

// The driver refuses the third launch of a measured kernel, or takes it and then fails the wait.
TEST(Faults, of_a_refused_launch_cost_one_point_and_those_in_a_kernel_the_device) {
    for (const bool is_in_kernel : {false, true}) {
        Script script;
        FakeGpu gpu;
        FakeKernels kernels(gpu);
        const auto launcher = make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), {});
        const Plan plan = plan_of("offset", 1, Op::rmw, ElementType::f32, 1, 4096);
        kernels.expect(plan);
        const auto launch = launcher->prepare(plan);
        script.fail_call = script.calls() + (is_in_kernel ? 2 : 1);
        script.fail_code =
            is_in_kernel ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
        if (is_in_kernel) {
            EXPECT_THROW(launch->launch(), DeviceLostError);
            continue;
        }
        EXPECT_THROW(launch->launch(), PointError);
        EXPECT_NO_THROW(launch->launch());
        EXPECT_NO_THROW(launch->verify());
    }
}

}  // namespace
}  // namespace coalprof
