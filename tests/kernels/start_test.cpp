// What is said where a launcher cannot be had, and of the compiler that is there.
#include <gmock/gmock.h>

#include <filesystem>

#include "kernels/fake_driver.h"
#include "kernels/launcher.h"
#include "kernels/nvrtc_here.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST(Start, without_a_driver_says_so) {
    if (load_driver().api) GTEST_SKIP() << "this machine has a driver";
    EXPECT_THAT([] { make_launcher({}); }, ThrowsMessage<Error>(StartsWith("no GPU: ")));
}

TEST(Start, on_a_gpu_of_which_the_driver_says_too_little_is_refused) {
    FakeGpu gpu;
    gpu.attributes.erase(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    EXPECT_THAT([] { make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), {}); },
                ThrowsMessage<Error>(HasSubstr("cannot use GPU 0")));
}

// The loader is asked by name for what it knows or has loaded already.
TEST(Start, tells_where_the_compiler_lies) {
    COALPROF_NEEDS_NVRTC();
    const std::filesystem::path path = load_nvrtc(0).path;
    EXPECT_TRUE(path.is_absolute()) << path;
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
}

}  // namespace
}  // namespace coalprof
