// What has Python frameworks hand over PTX.
#include "cupti/attach/frameworks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

struct ProgramOutput {
    int code = 0;
    std::string text;  // both streams
};

// XLA is made to hand over its PTX.
class Xla : public ::testing::Test {
 protected:
    Xla() {
        std::filesystem::create_directories(folder + "/toolkit/bin");
        std::filesystem::create_directories(folder + "/toolkit/nvvm/libdevice");
        std::filesystem::create_directories(folder + "/ours");
        ::setenv("CUDA_ROOT", (folder + "/toolkit").c_str(), 1);
        program("ptxas", "echo real: \"$@\"; exit 3");
        program("nvlink", "echo links");
        write("toolkit/nvvm/libdevice/libdevice.10.bc", "bitcode");
        all_flags = library("xla_cuda_plugin.so",
                            {"xla_gpu_enable_libnvptxcompiler", "xla_gpu_enable_libnvjitlink",
                             "xla_gpu_enable_llvm_module_compilation_"
                             "parallelism"});
    }
    ~Xla() override {
        ::unsetenv("CUDA_ROOT");
        ::unsetenv("XLA_FLAGS");
        std::filesystem::remove_all(folder);
    }

    void write(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder + '/' + name, std::ios::binary) << bytes;
    }
    void program(const std::string& name, const std::string& script) const {
        write("toolkit/bin/" + name, "#!/bin/sh\n" + script + '\n');
        ::chmod((folder + "/toolkit/bin/" + name).c_str(), 0700);
    }
    // With names in it as a compiler leaves them there; it reads XLA_FLAGS.
    std::string library(const std::string& name, const std::vector<std::string>& flags) const {
        std::string bytes(
            "\x7f"
            "ELF\0XLA_FLAGS\0",
            15);
        for (const std::string& flag : flags) bytes += flag + '\0';
        write(name, bytes);
        return folder + '/' + name;
    }
    std::map<std::string, std::string> variables(const std::set<std::string>& libraries,
                                                 int driver_version = 13000) const {
        const auto all = variables_for_xla(libraries, folder + "/ours", driver_version);
        return {all.begin(), all.end()};
    }
    std::string flags(const std::set<std::string>& libraries) const {
        return variables(libraries).at("XLA_FLAGS");
    }
    // What the stand-in answers.
    ProgramOutput asked(const std::string& words) const {
        const std::string compiler = variables({all_flags}).at("CUDA_ROOT") + "/bin/ptxas";
        FILE* pipe = ::popen((compiler + ' ' + words + " 2>&1").c_str(), "r");
        ProgramOutput output;
        for (int c = 0; (c = ::fgetc(pipe)) != EOF;) output.text += static_cast<char>(c);
        output.code = WEXITSTATUS(::pclose(pipe));
        return output;
    }
    std::string text_of(const std::string& path) const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    const std::string folder = ::testing::TempDir() + "xla_" + std::to_string(::getpid());
    std::string all_flags;
};

TEST_F(Xla, is_looked_for_in_libraries_by_name) {
    EXPECT_TRUE(may_hold_xla("/site/jax_plugins/xla_cuda13/xla_cuda_plugin.so"));
    EXPECT_TRUE(may_hold_xla("/site/jaxlib/libjax_common.so"));
    EXPECT_FALSE(may_hold_xla("/site/jaxlib/libcublas.so.13"));
    EXPECT_THAT(variables({}), IsEmpty());
    EXPECT_THAT(variables({folder + "/is_not_there.so"}), IsEmpty());
}

// One that it does not know ends the program.
TEST_F(Xla, is_given_flags_that_all_its_libraries_know) {
    EXPECT_EQ(flags({all_flags}),
              "--xla_gpu_enable_libnvptxcompiler=false "
              "--xla_gpu_enable_libnvjitlink=false "
              "--xla_gpu_enable_llvm_module_compilation_parallelism=false "
              "--xla_gpu_cuda_data_dir=" +
                  folder + "/ours/cuda");
    const std::string few = library("libjax_common.so", {"xla_gpu_enable_libnvptxcompiler"});
    EXPECT_THAT(flags({all_flags, few}), Not(HasSubstr("libnvjitlink")));
    // The name of a field is no flag: nothing ends behind it.
    const std::string fields = library(
        "xla_fields.so", {"xla_gpu_enable_libnvptxcompiler", "xla_gpu_enable_libnvjitlinkR"});
    EXPECT_THAT(flags({fields}), Not(HasSubstr("libnvjitlink")));
    write("jax_other.so", "reads no flags");
    EXPECT_THAT(flags({all_flags, folder + "/jax_other.so"}), HasSubstr("libnvjitlink"));
}

TEST_F(Xla, is_left_alone_where_it_would_not_call_ptxas) {
    EXPECT_THAT(variables({library("xla_old.so", {"xla_gpu_enable_libnvjitlink"})}), IsEmpty());
    EXPECT_THAT(variables({all_flags}, 0), IsEmpty());
    std::filesystem::remove_all(folder + "/ours");
    write("ours", "no folder");
    EXPECT_THAT(variables({all_flags}), IsEmpty());
}

TEST_F(Xla, keeps_the_flags_of_the_user) {
    ::setenv("XLA_FLAGS", " --xla_dump_to=/x --xla_gpu_autotune_level=0", 1);
    EXPECT_THAT(flags({all_flags}),
                ::testing::StartsWith("--xla_dump_to=/x --xla_gpu_autotune_level=0 --xla_gpu_en"));
    write("flags", "--xla_dump_to=/y\n");
    ::setenv("XLA_FLAGS", (folder + "/flags").c_str(), 1);
    EXPECT_THAT(flags({all_flags}), ::testing::StartsWith("--xla_dump_to=/y\n --xla_gpu_en"));
    ::setenv("XLA_FLAGS", "/no/such/file", 1);
    EXPECT_THAT(variables({all_flags}), IsEmpty());
    for (const char* choice :
         {"--xla_gpu_enable_libnvptxcompiler=true", "--xla_gpu_cuda_data_dir=/cuda"}) {
        ::setenv("XLA_FLAGS", choice, 1);
        EXPECT_THAT(variables({all_flags}), IsEmpty()) << choice;
    }
}

TEST_F(Xla, does_not_put_ptx_into_lasting_caches) {
    EXPECT_EQ(variables({all_flags}).at("JAX_ENABLE_COMPILATION_CACHE"), "false");
    const auto all = variables_for_ptx(folder + "/ours", 13000, {all_flags});
    EXPECT_THAT(all, ::testing::Contains(::testing::Key("JAX_ENABLE_COMPILATION_CACHE")));
}

TEST_F(Xla, finds_the_rest_of_the_toolkit_where_ptxas_is) {
    const std::string root = variables({all_flags}).at("CUDA_ROOT");
    EXPECT_EQ(text_of(root + "/nvvm/libdevice/libdevice.10.bc"), "bitcode");
    EXPECT_EQ(text_of(root + "/bin/nvlink"), "#!/bin/sh\necho links\n");
    EXPECT_THAT(text_of(root + "/bin/ptxas"), HasSubstr("coalprof"));
    EXPECT_THAT(text_of(folder + "/toolkit/bin/ptxas"), Not(HasSubstr("coalprof")));
}

// What XLA reads out of the complaint stands between the only quotes.
TEST_F(Xla, learns_the_versions_that_the_driver_compiles) {
    EXPECT_THAT(asked("--version").text, HasSubstr(" V12.9.0"));
    const ProgramOutput refusal = asked("--input-as-string '.version 99.99'");
    EXPECT_NE(refusal.code, 0);
    EXPECT_THAT(refusal.text, HasSubstr("current version is '8.8'"));
    EXPECT_EQ(std::ranges::count(refusal.text, '\''), 2);
}

TEST_F(Xla, gets_its_ptx_back_as_the_driver_takes_it) {
    write("tempfile-host-1", ".version 8.8\n.target sm_90a\n");
    const std::string file = folder + "/tempfile-host-1";
    EXPECT_EQ(asked(file + " -o " + file + "-cubin -arch=sm_90a --warn-on-spills -v").code, 0);
    EXPECT_EQ(text_of(file + "-cubin"), text_of(file) + '\0');
}

TEST_F(Xla, leaves_others_their_ptxas_and_its_exit_code) {
    write("x.ptx", ".version 8.8\n");
    for (const std::string& words :
         {folder + "/x.ptx -o " + folder + "/x.cubin", "-c tempfile -o " + folder + "/x.o",
          std::string("--input-as-string '.version 8.0'")}) {
        const ProgramOutput output = asked(words);
        EXPECT_EQ(output.code, 3) << words;
        EXPECT_THAT(output.text, ::testing::StartsWith("real: ")) << words;
    }
}

}  // namespace
}  // namespace coalprof
