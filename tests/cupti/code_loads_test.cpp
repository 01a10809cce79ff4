// What the driver's linker is given in place of what a program gives it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cupti/attach/library/driver_calls.h"

namespace coalprof {
namespace {

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
