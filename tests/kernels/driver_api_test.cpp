#include "kernels/driver_api.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "kernels/fake_driver.h"
#include "kernels/launcher.h"

namespace coalprof {
namespace {

TEST(Driver, that_is_missing_is_told_in_a_sentence_and_not_an_exception) {
    const DriverLibrary library = load_driver();
    if (library.api) GTEST_SKIP() << "this machine has a driver";
    EXPECT_TRUE(library.sentence.starts_with("no GPU: ")) << library.sentence;
}

TEST(Driver, tells_apart_why_there_is_no_gpu) {
    unsetenv("CUDA_VISIBLE_DEVICES");
    const std::pair<CUresult, const char*> answers[] = {
        {CUDA_ERROR_STUB_LIBRARY, "LD_LIBRARY_PATH"},
        {CUDA_ERROR_NO_DEVICE, "finds no CUDA device"},
        {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "Reboot"},
        {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "compatibility"},
        {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_999"},
    };
    for (const auto& [code, said] : answers) {
        FakeGpu gpu;
        gpu.init_answer = code;
        const DriverState state = start_driver(FakeGpu::driver());
        EXPECT_NE(state.sentence.find(said), std::string::npos) << state.sentence;
        EXPECT_EQ(state.version, 13000);
    }
}

TEST(Driver, that_does_not_start_launches_nothing_and_its_answer_is_told) {
    FakeGpu gpu;
    gpu.init_answer = CUDA_ERROR_UNKNOWN;
    try {
        make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), {});
        ADD_FAILURE() << "it made a launcher";
    } catch (const Error& error) {
        EXPECT_EQ(error.what(), start_driver(FakeGpu::driver()).sentence);
    }
}

TEST(Driver, that_is_told_to_show_no_device_says_so) {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    FakeGpu gpu;
    gpu.devices = 0;
    const DriverState state = start_driver(FakeGpu::driver());
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_NE(state.sentence.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
}

TEST(DriverCheck, loses_the_device_on_sticky_errors_and_a_point_on_others) {
    FakeGpu gpu;
    const DriverApi api = FakeGpu::driver();
    // Those that cuda.h calls fatal to the process, and those after which the GPU is gone.
    for (const int code :
         {46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999})
        EXPECT_THROW(check(api, static_cast<CUresult>(code), "test"), DeviceLostError) << code;
    for (const int code : {1, 2, 200, 209, 400, 500, 701, 801})
        EXPECT_THROW(check(api, static_cast<CUresult>(code), "test"), PointError) << code;
    EXPECT_NO_THROW(check(api, CUDA_SUCCESS, "test"));
}

TEST(DriverCheck, says_what_was_being_done_and_what_came_back) {
    FakeGpu gpu;
    try {
        check(FakeGpu::driver(), CUDA_ERROR_ILLEGAL_ADDRESS, "finish the kernel");
        ADD_FAILURE();
    } catch (const DeviceLostError& error) {
        EXPECT_STREQ(error.what(),
                     "cannot finish the kernel: scripted failure (CUDA_ERROR_700). This process "
                     "can no longer use the GPU");
    }
}

TEST(Nvrtc, of_the_drivers_own_release_is_tried_first) {
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", "/opt/cuda", 1);
    const auto newer = nvrtc_candidates(13000);
    EXPECT_EQ(newer.front(), "/opt/cuda/lib64/libnvrtc.so.13");
    const auto older = nvrtc_candidates(12040);
    EXPECT_EQ(older.front(), "/opt/cuda/lib64/libnvrtc.so.12");
    setenv("CUDA_HOME", "relative/path", 1);  // would depend on the current directory
    EXPECT_EQ(nvrtc_candidates(13000).front(), "libnvrtc.so.13");
    unsetenv("CUDA_HOME");
}

}  // namespace
}  // namespace coalprof
