// The libcupti of this machine, for tests that need its host part only (no GPU, no driver).
#pragma once

#include <gtest/gtest.h>

#include "core/device/device.h"
#include "cupti/cupti_api.h"

namespace coalprof {

// libcupti loads libnvperf_host.so with RTLD_DEEPBIND, at which sanitizers end the process.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_sanitizer = true;
#else
inline constexpr bool has_sanitizer = false;
#endif

// Skips its tests, with the reason, where no libcupti can be loaded.
class RealCupti : public ::testing::Test {
 protected:
    void SetUp() override {
        if (has_sanitizer) GTEST_SKIP() << "CUPTI's host does not run under sanitizers";
        try {
            api_ = &loaded_cupti().api;
        } catch (const CountersError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    const CuptiApi& api() const { return *api_; }

    // Chips that CUPTI lists but whose host it refuses: Jetson Xavier's, compute capability 7.2,
    // with CUPTI 13.0.
    static bool is_listed_only(const std::string& chip) { return chip == "GV11B"; }

 private:
    const CuptiApi* api_ = nullptr;
};

}  // namespace coalprof
