// What has Python frameworks hand over PTX.
#include "cupti/attach/frameworks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "cupti/attach/cubins.h"

namespace coalprof {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

class Frameworks : public ::testing::Test {
 protected:
    Frameworks() { std::filesystem::create_directories(folder); }
    ~Frameworks() override { std::filesystem::remove_all(folder); }
    std::map<std::string, std::string> variables(int driver_version = 13000) const {
        const auto all = variables_for_ptx(folder, driver_version);
        return {all.begin(), all.end()};
    }
    static std::string output_of(const std::string& command) {
        FILE* pipe = ::popen(command.c_str(), "r");
        std::string text;
        for (int c = 0; (c = ::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
        return ::pclose(pipe) == 0 ? text : "failed";
    }

    const std::string folder = ::testing::TempDir() + "folder_" + std::to_string(::getpid());
};

TEST_F(Frameworks, are_told_a_release_that_driver_and_triton_know) {
    const auto release = [&](int driver_version, const char* name) {
        return output_of('"' + variables(driver_version).at(name) + "\" --version");
    };
    EXPECT_THAT(release(12040, "TRITON_PTXAS_PATH"), HasSubstr("release 12.4,"));
    EXPECT_THAT(release(13000, "TRITON_PTXAS_PATH"), HasSubstr("release 12.8,"));
    EXPECT_THAT(release(13000, "TRITON_PTXAS_BLACKWELL_PATH"), HasSubstr("release 12.9,"));
}

TEST_F(Frameworks, get_their_ptx_back_as_the_driver_takes_it) {
    const std::string ptx = ".version 8.7\n.target sm_90a\n%d \\n\n";
    const std::string file = folder + "/tmp x.ptx";
    std::ofstream(file) << ptx;
    const std::string compiler = '"' + variables().at("TRITON_PTXAS_PATH") + '"';
    // As Triton 3.4 calls it.
    EXPECT_EQ(output_of(compiler + " -lineinfo -v --gpu-name=sm_90a \"" + file + "\" -o \"" + file +
                        ".o\""),
              "");
    std::ifstream code(file + ".o", std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(code), {}};
    EXPECT_EQ(image, ptx + '\0');
    // In any order, and of a name without an end.
    std::filesystem::copy(file, folder + "/0");
    EXPECT_EQ(output_of("cd \"" + folder + "\" && " + compiler +
                        " 0 -o code -arch=sm_90a --opt-level 3 && cmp code 'tmp x.ptx.o'"),
              "");
    EXPECT_EQ(std::get<std::string>(ptx_of_image(image.data(), 90)), ptx);
}

TEST_F(Frameworks, are_told_of_a_failure_by_the_exit_code) {
    const std::string compiler = '"' + variables().at("TRITON_PTXAS_PATH") + '"';
    EXPECT_EQ(output_of(compiler + " --gpu-name=sm_90a /no/such.ptx -o /no/such.o 2>&-"), "failed");
    EXPECT_EQ(output_of(compiler), "failed");
    EXPECT_EQ(output_of(compiler + " x.ptx -o"), "failed");
}

TEST_F(Frameworks, keep_what_the_user_has_set) {
    ::setenv("TRITON_CACHE_DIR", "/mine", 1);
    ::setenv("CUPY_CACHE_IN_MEMORY", "0", 1);
    // Caches that last would give machine code, and take PTX for it.
    EXPECT_EQ(variables().at("TRITON_CACHE_DIR"), folder + "/triton");
    EXPECT_EQ(variables().at("CUPY_CACHE_IN_MEMORY"), "1");
    ::setenv("TRITON_PTXAS_PATH", "/mine", 1);
    ::setenv("CUPY_COMPILE_WITH_PTX", "0", 1);
    EXPECT_THAT(variables(), IsEmpty());
    for (const char* name :
         {"TRITON_CACHE_DIR", "TRITON_PTXAS_PATH", "CUPY_COMPILE_WITH_PTX", "CUPY_CACHE_IN_MEMORY"})
        ::unsetenv(name);
}

TEST_F(Frameworks, compile_as_always_where_ours_cannot_be_started) {
    EXPECT_THAT(variables(0), Not(Contains(Key("TRITON_PTXAS_PATH"))));
    std::filesystem::remove_all(folder);
    EXPECT_THAT(variables(), Not(Contains(Key("TRITON_PTXAS_PATH"))));
}

// By which variables a program's linker hands its PTX over.

using ::testing::Pair;

const std::string library_there = std::filesystem::read_symlink("/proc/self/exe");

auto variables_of_program(const std::set<std::string>& libraries,
                          const std::string& library = library_there) {
    return variables_for_linkers(libraries, "/folder", library);
}

TEST(Linkers, are_stood_before_where_a_program_may_link) {
    ::unsetenv("LD_PRELOAD");
    for (const char* path :
         {"/site/nvidia/cu13/lib/libnvJitLink.so.13",
          "/site/cuda/bindings/_internal/nvjitlink.cpython-312-x86_64-linux-gnu.so"}) {
        EXPECT_TRUE(may_hold_linker(path)) << path;
        EXPECT_THAT(variables_of_program({path}), Contains(Pair("LD_PRELOAD", library_there)))
            << path;
    }
    EXPECT_FALSE(may_hold_linker("/lib/libnvrtc.so.13"));
    EXPECT_THAT(variables_of_program({}), IsEmpty());
    EXPECT_THAT(variables_of_program({"/lib/libnvJitLink.so.13"}, "/no such library"), IsEmpty());
}

// The user's must not get code that counts itself.
TEST(Linkers, of_numba_get_a_cache_of_their_own) {
    EXPECT_THAT(variables_of_program({"/lib/libnvJitLink.so.13"}),
                Contains(Pair("NUMBA_CACHE_DIR", "/folder/numba")));
}

TEST(Linkers, leave_what_the_user_has_loaded_first) {
    ::setenv("LD_PRELOAD", "/lib/allocator.so", 1);
    EXPECT_THAT(variables_of_program({"/lib/libnvJitLink.so.12"}),
                Contains(Pair("LD_PRELOAD", "/lib/allocator.so:" + library_there)));
    ::unsetenv("LD_PRELOAD");
}

// Nobody could tell which one a link is of.
TEST(Linkers, of_two_releases_are_left_alone) {
    EXPECT_THAT(variables_of_program({"/lib/libnvJitLink.so.12", "/lib/libnvJitLink.so.13"}),
                IsEmpty());
}

TEST(Linkers, of_a_release_that_is_not_known_are_left_alone) {
    EXPECT_THAT(variables_of_program({"/lib/libnvJitLink.so.14"}), IsEmpty());
}

}  // namespace
}  // namespace coalprof
