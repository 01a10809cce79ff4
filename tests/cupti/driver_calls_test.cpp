// What CUPTI's callbacks say of the driver's calls: the arguments as cuda.h has them.
#include "cupti/attach/library/driver_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace coalprof {
namespace {

using ::testing::ElementsAre;

CUstream stream_number(std::uintptr_t number) { return reinterpret_cast<CUstream>(number); }

CUpti_CallbackData with_arguments(const void* arguments) {
    CUpti_CallbackData data{};
    data.functionParams = arguments;
    data.context = reinterpret_cast<CUcontext>(std::uintptr_t{64});
    data.symbolName = "kernel";
    return data;
}

struct PlainLaunch {
    CUfunction function = nullptr;
    unsigned numbers[7] = {2, 3, 4, 32, 8, 1, 100};  // grid, block, bytes of shared memory
    CUstream stream = nullptr;
};

void expect_whole(const std::optional<SeenLaunch>& seen, CUstream stream) {
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->kernel.name, "kernel");
    EXPECT_THAT(seen->kernel.grid, ElementsAre(2u, 3u, 4u));
    EXPECT_THAT(seen->kernel.block, ElementsAre(32u, 8u, 1u));
    EXPECT_EQ(seen->context, reinterpret_cast<CUcontext>(std::uintptr_t{64}));
    EXPECT_EQ(seen->stream, stream);
}

// Where no stream is named, some calls take the one that all threads share, others each thread's.
TEST(DriverCalls, of_launches_are_told_with_shape_and_stream) {
    const CUstream named = stream_number(8);
    for (const auto& [call, unnamed] :
         {std::pair{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, CU_STREAM_PER_THREAD},
          {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, CU_STREAM_PER_THREAD}}) {
        PlainLaunch arguments;
        expect_whole(launch_of(call, with_arguments(&arguments)), unnamed);
        arguments.stream = named;
        expect_whole(launch_of(call, with_arguments(&arguments)), named);
    }
    for (const auto& [call, unnamed] :
         {std::pair{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, CU_STREAM_PER_THREAD}}) {
        CUlaunchConfig config{};
        config.gridDimX = 2, config.gridDimY = 3, config.gridDimZ = 4;
        config.blockDimX = 32, config.blockDimY = 8, config.blockDimZ = 1;
        const CUlaunchConfig* const arguments = &config;
        expect_whole(launch_of(call, with_arguments(&arguments)), unnamed);
        config.hStream = named;
        expect_whole(launch_of(call, with_arguments(&arguments)), named);
    }
}

TEST(DriverCalls, of_graphs_are_launches_without_a_shape) {
    struct {
        CUgraphExec graph = nullptr;
        CUstream stream = nullptr;
    } const arguments;
    for (const auto& [call, unnamed] :
         {std::pair{CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, CU_STREAM_PER_THREAD}}) {
        const auto seen = launch_of(call, with_arguments(&arguments));
        ASSERT_TRUE(seen);
        EXPECT_THAT(seen->kernel.grid, ElementsAre(0u, 0u, 0u));
        EXPECT_THAT(seen->kernel.block, ElementsAre(0u, 0u, 0u));
        EXPECT_EQ(seen->stream, unnamed);
    }
}

TEST(DriverCalls, that_begin_and_end_a_recording_are_told_apart) {
    struct RecordingCall {
        CUpti_CallbackId call;
        bool is_begin;
        CUstream unnamed;
    };
    const CUstream none = nullptr;
    for (const auto& [call, is_begin, unnamed] :
         {RecordingCall{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture, true, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, true, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, true, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz, true, CU_STREAM_PER_THREAD},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz, true, CU_STREAM_PER_THREAD},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz, true, CU_STREAM_PER_THREAD},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, false, CU_STREAM_LEGACY},
          {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz, false, CU_STREAM_PER_THREAD}}) {
        const auto seen = capture_of(call, with_arguments(&none));
        ASSERT_TRUE(seen);
        EXPECT_EQ(seen->is_begin, is_begin);
        EXPECT_EQ(seen->stream, unnamed);
        EXPECT_FALSE(launch_of(call, with_arguments(&none)));
    }
}

// The library asks to be told of more calls than launches.
TEST(DriverCalls, that_wait_or_load_code_are_neither) {
    const auto is_neither = [](CUpti_CallbackId call) {
        return !launch_of(call, with_arguments(nullptr)) &&
               !capture_of(call, with_arguments(nullptr));
    };
    for (const CUpti_CallbackId call : waiting_calls) EXPECT_TRUE(is_neither(call)) << call;
    for (const CUpti_CallbackId call : loading_calls) EXPECT_TRUE(is_neither(call)) << call;
    for (const CUpti_CallbackId call : unloading_calls) EXPECT_TRUE(is_neither(call)) << call;
}

TEST(DriverCalls, that_load_code_tell_it_or_its_file) {
    const struct {
        CUlibrary* library = nullptr;
        const void* code = "code or file";
    } arguments;
    for (const CUpti_CallbackId call : loading_calls) {
        const auto load = load_of(call, with_arguments(&arguments));
        ASSERT_TRUE(load) << call;
        EXPECT_EQ(load->code, arguments.code);
        EXPECT_EQ(load->is_file, call == CUPTI_DRIVER_TRACE_CBID_cuModuleLoad ||
                                     call == CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile);
    }
    for (const CUpti_CallbackId call : unloading_calls)
        EXPECT_FALSE(load_of(call, with_arguments(&arguments)));
    for (const CUpti_CallbackId call : waiting_calls)
        EXPECT_FALSE(load_of(call, with_arguments(&arguments)));
}

TEST(DriverCalls, of_kernels_without_a_name_say_so) {
    const PlainLaunch arguments;
    CUpti_CallbackData data = with_arguments(&arguments);
    data.symbolName = nullptr;
    EXPECT_EQ(launch_of(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, data)->kernel.name, "(unnamed)");
}

// What the driver's linker is given in place of what a program gives it.

using ::testing::HasSubstr;

const std::string ptx_to_link =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
    "\t.reg .b64 %rd<2>;\n\tst.global.f32 [%rd1], 0f00000000;\n\tret;\n}\n";

ModuleDriver driver_without_context() {
    ModuleDriver driver;
    driver.context_get_device = [](CUdevice*) { return CUDA_ERROR_INVALID_CONTEXT; };
    driver.device_get_count = [](int*) { return CUDA_ERROR_NOT_INITIALIZED; };
    driver.device_get_attribute = [](int* value, CUdevice_attribute, CUdevice) {
        *value = 9;
        return CUDA_SUCCESS;
    };
    driver.link_create = [](unsigned, CUjit_option*, void**, CUlinkState*) {
        return CUDA_ERROR_INVALID_CONTEXT;
    };
    return driver;
}

class DriversLinker : public ::testing::Test {
 protected:
    template <typename Arguments>
    bool called(CUpti_CallbackId call, Arguments& arguments, CUpti_ApiCallbackSite site) {
        CUpti_CallbackData data{};
        data.callbackSite = site;
        data.functionParams = &arguments;
        return loading_called(call, data, true, lines_, [this](const std::string& bytes) {
            std::ofstream(path_ + ".ours", std::ios::binary) << bytes;
            return path_ + ".ours";
        });
    }

    const std::string path_ = ::testing::TempDir() + "linked_" + std::to_string(::getpid());

 private:
    LineProbe lines_{{.driver = driver_without_context(),
                      .wants = [](const std::string&) { return true; },
                      .deliver = [](const TracedSite&) {},
                      .problem = [](const std::string&) {},
                      .lacks_ptx = [](const std::string&) {}}};
};

TEST_F(DriversLinker, is_given_counting_ptx_in_place_of_bytes) {
    for (const CUpti_CallbackId call :
         {CUPTI_DRIVER_TRACE_CBID_cuLinkAddData, CUPTI_DRIVER_TRACE_CBID_cuLinkAddData_v2}) {
        std::string theirs = ptx_to_link;
        LinkDataArguments input{nullptr, CU_JIT_INPUT_PTX, theirs.data(), theirs.size() + 1};
        EXPECT_TRUE(called(call, input, CUPTI_API_ENTER));
        const std::string given(static_cast<const char*>(input.data), input.size - 1);
        EXPECT_THAT(given, HasSubstr("call coalprof_probe"));
        EXPECT_EQ(input.type, CU_JIT_INPUT_PTX);
        const void* const ours = input.data;
        called(call, input, CUPTI_API_EXIT);
        EXPECT_EQ(input.data, ours);
    }
}

TEST_F(DriversLinker, is_given_machine_code_as_it_is) {
    std::string theirs = ptx_to_link;
    for (const CUjitInputType type : {CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_OBJECT}) {
        LinkDataArguments input{nullptr, type, theirs.data(), theirs.size()};
        called(CUPTI_DRIVER_TRACE_CBID_cuLinkAddData_v2, input, CUPTI_API_ENTER);
        EXPECT_EQ(input.data, theirs.data());
    }
}

TEST_F(DriversLinker, is_given_a_counting_file_that_does_not_stay) {
    std::ofstream(path_) << ptx_to_link;
    LinkFileArguments input{nullptr, CU_JIT_INPUT_PTX, path_.c_str()};
    EXPECT_TRUE(called(CUPTI_DRIVER_TRACE_CBID_cuLinkAddFile_v2, input, CUPTI_API_ENTER));
    std::ifstream file(input.path);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
                HasSubstr("call coalprof_probe"));
    called(CUPTI_DRIVER_TRACE_CBID_cuLinkAddFile_v2, input, CUPTI_API_EXIT);
    EXPECT_FALSE(std::filesystem::exists(path_ + ".ours"));
    EXPECT_TRUE(std::filesystem::exists(path_));
    std::filesystem::remove(path_);
}

}  // namespace
}  // namespace coalprof
