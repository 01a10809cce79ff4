// What a program's first run tells of its code, and whether it is run again for lines: programs
// that load some code and launch a kernel, on a GPU of compute capability 9.0.
#include "cupti/attach/loaded_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/program/traced_kernels.h"
#include "cupti/attach/attachment.h"
#include "cupti/attach/cubins.h"
#include "cupti/fat_binaries.h"

namespace coalprof {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::string ptx_of(const std::string& kernel) {
    return ".version 8.0\n.target sm_75\n.visible .entry " + kernel + "()\n{\n\tret;\n}\n";
}

const std::string machine_code = fat_binary(entry(2, 90, "code of k"));
const std::string cubin = cubin_of({"f", "k"});

ModuleDriver driver_of_an_h100() {
    ModuleDriver driver;
    driver.context_get_device = [](CUdevice* device) {
        *device = 0;
        return CUDA_SUCCESS;
    };
    driver.device_get_attribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
        *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
        return CUDA_SUCCESS;
    };
    return driver;
}

class FirstRun : public ::testing::Test {
 protected:
    FirstRun() {
        std::filesystem::create_directories(folder_);
        attachment.emplace(Attachment::Setup{
            .orders = {.folder = folder_, .first_of_each = 0, .tells_of_code = true},
            .api = {},
            .device_of = [](CUcontext) { return 0u; }});
        attachment->tell_of_code(driver_of_an_h100());
    }
    ~FirstRun() override { std::filesystem::remove_all(folder_); }

    void loads(const std::string& image) {
        attachment->with_code([&](LoadedCode& code) { code.image(image.c_str()); });
    }
    void loads_file(const std::string& bytes) {
        const std::string path = folder_ + "/code";
        std::ofstream(path, std::ios::binary) << bytes;
        attachment->with_code([&](LoadedCode& code) { code.file(path.c_str()); });
    }
    void launches(const std::string& kernel) {
        attachment->launch_begins(
            {.kernel = {.name = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}}});
        attachment->launch_ends(true);
    }
    Trace trace() const {
        return read_trace(folder_ + '/' + trace_name(static_cast<std::uint64_t>(::getpid())));
    }
    bool is_run_again() {
        attachment->program_ends();
        return may_have_lines({trace()}, [](const std::string&) { return true; });
    }

    std::optional<Attachment> attachment;

 private:
    const std::string folder_ = ::testing::TempDir() + "first_run_" + std::to_string(::getpid());
};

TEST_F(FirstRun, is_the_only_one_where_all_kernels_are_machine_code) {
    loads(machine_code);
    loads_file(machine_code);
    launches("k");
    EXPECT_FALSE(is_run_again());
}

TEST_F(FirstRun, is_the_only_one_where_ptx_is_for_newer_gpus) {
    loads(fat_binary(entry(2, 90, "code") + entry(1, 120, ptx_of("k"))));
    launches("k");
    EXPECT_FALSE(is_run_again());
}

// It may do other things than the machine code.
TEST_F(FirstRun, is_the_only_one_where_ptx_is_older_than_the_machine_code) {
    loads(fat_binary(entry(2, 90, "code") + entry(1, 75, ptx_of("k"))));
    launches("k");
    EXPECT_FALSE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_one_kernel_rewritable) {
    loads(machine_code);
    loads(fat_binary(entry(1, 75, ptx_of("mine"))));
    launches("k");
    launches("mine");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_the_only_one_where_no_kernel_rewritable_is_launched) {
    loads(machine_code);
    loads(fat_binary(entry(1, 75, ptx_of("mine"))));
    launches("k");
    EXPECT_FALSE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_ptx_that_is_loaded_as_text) {
    loads(machine_code);
    loads(ptx_of("k"));
    launches("k");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_ptx_in_files) {
    loads(machine_code);
    loads_file(ptx_of("k"));
    launches("k");
    EXPECT_TRUE(is_run_again());
}

// Frameworks load what they compiled so, and hand over PTX when they are asked to.
TEST_F(FirstRun, is_followed_for_a_cubin) {
    loads(machine_code);
    loads(cubin);
    launches("k");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_a_cubin_in_a_file) {
    loads(machine_code);
    loads_file(cubin);
    launches("k");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_the_only_one_where_no_kernel_of_a_cubin_is_launched) {
    loads(machine_code);
    loads(cubin);
    launches("another");
    EXPECT_FALSE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_a_cubin_whose_functions_cannot_be_told) {
    loads(machine_code);
    loads_file(cubin.substr(0, cubin.size() - 64));
    launches("another");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_code_of_a_kind_that_is_not_known) {
    loads(machine_code);
    loads("BC of another compiler");
    launches("k");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_followed_for_code_that_came_another_way) {
    launches("k");
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, is_the_only_one_where_nothing_is_launched) {
    loads(ptx_of("k"));
    loads(cubin);
    EXPECT_FALSE(is_run_again());
}

TEST_F(FirstRun, tells_each_thing_once) {
    for (int i = 0; i < 2; ++i) {
        loads(machine_code);
        loads(ptx_of("k"));
    }
    EXPECT_THAT(trace().rewritable, ElementsAre("k"));
    EXPECT_THAT(trace().lacks_ptx, SizeIs(1));
    EXPECT_THAT(trace().unknown_code, IsEmpty());
    std::size_t told = 0;
    LoadedCode code({.driver = driver_of_an_h100(),
                     .rewritable = [&](const std::string&) { ++told; },
                     .lacks_ptx = [&](const std::string&) { ++told; },
                     .unknown_code = [&](const std::string&) { ++told; }});
    for (int i = 0; i < 2; ++i)
        for (const std::string& image : {machine_code, ptx_of("k"), cubin})
            code.image(image.c_str());
    EXPECT_EQ(told, 3u);  // k, the reason, f
    for (const std::string& image : {std::string("neither"), ptx_of("another")})
        code.image(image.c_str());
    EXPECT_EQ(told, 4u);  // that there is code of which nothing is known, as if it were all
}

TEST(FunctionsOfCubin, are_told_where_it_is_whole) {
    const std::string whole = cubin_of({"f", "_Z1kPf"});
    EXPECT_THAT(functions_of_cubin(whole.data(), whole.size()), ElementsAre("f", "_Z1kPf"));
    EXPECT_THAT(functions_of_cubin(whole.data()), ElementsAre("f", "_Z1kPf"));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string cut = whole.substr(0, size);
        EXPECT_THAT(functions_of_cubin(cut.data(), size), IsEmpty()) << size;
    }
    // Of another machine, of another class, with headers of another size, without names.
    for (const std::size_t at : {18u, 4u, 58u, 60u}) {
        std::string other = whole;
        put(other, at, std::uint8_t{0});
        EXPECT_THAT(functions_of_cubin(other.data(), other.size()), IsEmpty()) << at;
    }
}

// A program that makes kernels for ever.
TEST_F(FirstRun, is_followed_where_there_are_more_kernels_than_are_told) {
    for (std::size_t i = 0; i <= LoadedCode::most_kernels; ++i)
        loads(ptx_of("k" + std::to_string(i)));
    loads(machine_code);
    launches("another");
    EXPECT_THAT(trace().rewritable, SizeIs(LoadedCode::most_kernels));
    EXPECT_TRUE(is_run_again());
}

TEST_F(FirstRun, passes_over_code_that_is_not_there) {
    attachment->with_code([](LoadedCode& code) {
        code.image(nullptr);
        code.file(nullptr);
    });
    loads(machine_code);
    launches("k");
    EXPECT_FALSE(is_run_again());
}

// As nvcc packs code into a program.
const std::string_view packed_in_this_program{
    "\x50\xed\x55\xba\x01\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16};

TEST_F(FirstRun, tells_which_file_holds_no_ptx_and_what_to_build_it_with) {
    ASSERT_EQ(ptx_of_image(packed_in_this_program.data(), 90).index(), 1u);
    attachment->with_code([](LoadedCode& code) { code.image(packed_in_this_program.data()); });
    loads(machine_code);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename();
    EXPECT_THAT(trace().lacks_ptx,
                UnorderedElementsAre(AllOf(StartsWith(program + ' '), HasSubstr("-arch=sm_90"),
                                           HasSubstr("CMAKE_CUDA_ARCHITECTURES=90")),
                                     AllOf(HasSubstr("cubin"), HasSubstr("nvrtcGetPTX"))));
}

TEST(WhyWithoutPtx, is_told_by_who_can_build_the_code) {
    const auto why = [](const std::string& path, const std::set<std::string>& needed) {
        return why_without_ptx(CodeFile{path, needed}, 120);
    };
    EXPECT_THAT(why("/cache/scaled.so", {"libc10.so", "libc.so.6"}),
                AllOf(HasSubstr("scaled.so"), HasSubstr("TORCH_CUDA_ARCH_LIST=\"12.0+PTX\"")));
    EXPECT_THAT(why("/home/app", {"libcudart.so.13"}), HasSubstr("-arch=sm_120"));
    for (const char* vendors : {"/lib/libcublas.so.13", "/torch/lib/libtorch_cuda.so"})
        EXPECT_THAT(why(vendors, {"libc10.so"}), Not(HasSubstr("build"))) << vendors;
}

TEST(CodeFile, is_the_one_that_the_bytes_were_loaded_with) {
    const auto own = file_around(packed_in_this_program.data());
    ASSERT_TRUE(own);
    EXPECT_EQ(own->path, std::filesystem::read_symlink("/proc/self/exe"));
    EXPECT_TRUE(own->needed.contains("libc.so.6"));
    const std::string made(64, 'x');
    EXPECT_FALSE(file_around(made.data()));
}

}  // namespace
}  // namespace coalprof
