// By which variables a program's linker hands its PTX over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cupti/attach/frameworks.h"

namespace coalprof {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
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
