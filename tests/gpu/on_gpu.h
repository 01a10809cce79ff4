// What tests on a real GPU share: they skip with the reason where there is none.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/run/device_ceilings.h"
#include "core/text/error.h"
#include "cupti/collector.h"
#include "kernels/driver_api.h"
#include "kernels/launcher.h"

namespace coalprof {

// One launcher and one collector for the tests of a suite: a context takes longer to make than most
// of them.
class GpuTest : public ::testing::Test {
 protected:
    static void TearDownTestSuite() {
        collector_.reset();  // before the context that it measures
        launcher_.reset();
    }
    void SetUp() override {
        const std::string reason = why_no_gpu();
        if (!reason.empty()) GTEST_SKIP() << reason;
        if (!launcher_) launcher_ = make_launcher({});
    }

    static KernelLauncher& launcher() { return *launcher_; }
    static Machine machine() { return machine_of(launcher().device()); }

    // Why counters cannot be read; empty: they can, with collector().
    static std::string why_no_counters() {
        if (collector_) return {};
        try {
            collector_ = make_collector({});
            return {};
        } catch (const CountersError& error) {
            return error.what();
        }
    }
    static CuptiCollector& collector() { return *collector_; }

 private:
    inline static std::unique_ptr<KernelLauncher> launcher_;
    inline static std::unique_ptr<CuptiCollector> collector_;
};

// Ends a test of counters where they cannot be read.
#define COALPROF_NEEDS_COUNTERS() \
    if (const std::string reason = why_no_counters(); !reason.empty()) GTEST_SKIP() << reason

// Data right before, between and after launches, timed ones among them.
inline void run_and_verify(KernelLauncher& launcher, const Plan& plan) {
    SCOPED_TRACE(fmt::format("{} {} {} {} x{}, {} bytes", plan.pattern, plan.options.variant,
                             name_of(plan.op), name_of(plan.type), plan.shape.per_thread,
                             plan.shape.size_bytes));
    try {
        const auto launch = launcher.prepare(plan);
        launch->verify();
        launch->launch();
        launch->launch();
        launch->verify();
        launch->time(3, CacheState::cold);
        launch->verify();
    } catch (const Error& error) {
        ADD_FAILURE() << error.what();
    }
}

}  // namespace coalprof
