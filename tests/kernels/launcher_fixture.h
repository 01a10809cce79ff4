// A launcher on a scripted GPU whose kernels are played, for the tests of what it launches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "core/device/device.h"
#include "kernels/compiler.h"
#include "kernels/fake_driver.h"
#include "kernels/fake_kernels.h"
#include "kernels/launcher.h"
#include "kernels/plans.h"

namespace coalprof {

class LauncherTest : public testing::Test {
 protected:
    KernelLauncher& launcher() {
        if (!launcher_) launcher_ = make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), options_);
        return *launcher_;
    }
    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) {
        KernelLauncher& on = launcher();
        kernels_.expect(plan);
        return on.prepare(plan);
    }
    std::size_t launches_of(const std::string& kernel) const {
        return static_cast<std::size_t>(
            std::count(gpu_.launched.begin(), gpu_.launched.end(), kernel));
    }

    Script script_;
    FakeGpu gpu_;
    FakeKernels kernels_{gpu_};
    LauncherOptions options_;
    std::unique_ptr<KernelLauncher> launcher_;
};

}  // namespace coalprof
