
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/device/device.h"
#include "cupti/cupti_api.h"
#include "cupti/planted_folder.h"

namespace coalprof {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

LibrarySearch search_in(const PlantedFolder& folder,
                        const std::map<std::string, std::string>& environment,
                        std::uint32_t driver_version = 13000) {
    return {.environment = [environment](const char* name) -> std::optional<std::string> {
                const auto found = environment.find(name);
                if (found == environment.end()) return std::nullopt;
                return found->second;
            },
            .root = folder.root(),
            .driver_version = driver_version};
}

std::vector<std::string> names(const LibrarySearch& search) {
    std::vector<std::string> all;
    for (const LibraryCandidate& candidate : library_candidates(search))
        all.push_back((candidate.if_loaded ? "loaded " : "") + candidate.name);
    return all;
}

TEST(LibrarySearch, tries_what_is_loaded_then_what_the_loader_knows) {
    const PlantedFolder empty;
    EXPECT_THAT(names(search_in(empty, {})),
                ElementsAre("loaded libcupti.so.13", "loaded libcupti.so.12", "libcupti.so.13",
                            "libcupti.so.12"));
}

TEST(LibrarySearch, offers_an_old_driver_the_older_library_first) {
    const PlantedFolder empty;
    EXPECT_THAT(names(search_in(empty, {}, 12080)),
                ElementsAre("loaded libcupti.so.12", "loaded libcupti.so.13", "libcupti.so.12",
                            "libcupti.so.13"));
}

TEST(LibrarySearch, looks_into_toolkits_in_order_newest_version_first) {
    PlantedFolder folder;
    folder.plant("home/extras/CUPTI/lib64/libcupti.so.12");
    folder.plant("home/lib64/libcupti.so.13");
    folder.plant("usr/local/cuda/lib/libcupti.so.13");
    folder.plant("usr/local/cuda-12.9/lib64/libcupti.so.12");
    folder.plant("usr/local/cuda-12.10/lib64/libcupti.so.12");
    folder.plant("usr/local/cuda-12.3/lib64/libcupti.so.12");
    folder.plant("usr/local/cuda-12.8/lib64/libcupti.so.12");
    folder.plant("usr/local/cuda-12.5/lib64/libcupti.so.12");
    folder.plant("usr/local/cuda-13.0/lib64/libcupti.so.13");
    folder.plant("usr/local/cuda-13.0/lib64/libcupti.so");  // not a name that is looked for
    auto found = names(search_in(folder, {{"CUDA_HOME", folder.path("home")}}));
    found.erase(found.begin(), found.begin() + 4);
    EXPECT_THAT(found, ElementsAre(folder.path("home/extras/CUPTI/lib64/libcupti.so.12"),
                                   folder.path("home/lib64/libcupti.so.13"),
                                   folder.path("usr/local/cuda/lib/libcupti.so.13"),
                                   folder.path("usr/local/cuda-13.0/lib64/libcupti.so.13"),
                                   folder.path("usr/local/cuda-12.10/lib64/libcupti.so.12"),
                                   folder.path("usr/local/cuda-12.9/lib64/libcupti.so.12"),
                                   folder.path("usr/local/cuda-12.8/lib64/libcupti.so.12"),
                                   folder.path("usr/local/cuda-12.5/lib64/libcupti.so.12"),
                                   folder.path("usr/local/cuda-12.3/lib64/libcupti.so.12")));
}

TEST(LibrarySearch, looks_into_python_packages) {
    PlantedFolder folder;
    folder.plant("env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
    folder.plant("conda/lib/libcupti.so.13");
    const auto found = names(search_in(
        folder, {{"VIRTUAL_ENV", folder.path("env")}, {"CONDA_PREFIX", folder.path("conda")}}));
    ASSERT_EQ(found.size(), 6u);
    EXPECT_EQ(found[4], folder.path("conda/lib/libcupti.so.13"));
    EXPECT_THAT(found[5], HasSubstr("cuda_cupti/lib/libcupti.so.12"));
}

TEST(LibrarySearch, puts_what_the_user_names_first_a_file_or_its_folder) {
    PlantedFolder folder;
    folder.plant("mine/libcupti.so.12");
    for (const std::string named : {"mine", "mine/libcupti.so.12"}) {
        const auto found =
            library_candidates(search_in(folder, {{"COALPROF_CUPTI", folder.path(named)}}));
        EXPECT_EQ(found[2].name, folder.path("mine/libcupti.so.12"));
        EXPECT_TRUE(found[2].is_demanded);
    }
}

TEST(LibrarySearch, takes_only_absolute_paths_from_the_environment) {
    PlantedFolder folder;
    folder.plant("lib64/libcupti.so.13");
    folder.plant("lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    const std::string here = std::filesystem::relative(folder.path(".")).string();
    ASSERT_TRUE(std::filesystem::exists(here + "/lib64/libcupti.so.13"));
    EXPECT_THAT(names(search_in(folder, {{"CUDA_HOME", here},
                                         {"CUDA_PATH", here},
                                         {"CONDA_PREFIX", here},
                                         {"VIRTUAL_ENV", here}})),
                Each(Not(HasSubstr("/"))));  // sonames are left
}

// What stands in place of a library here is none, so that loading it fails.
std::string refusal(const std::vector<LibraryCandidate>& candidates) {
    try {
        return "loaded " + load_cupti(candidates).path;
    } catch (const CountersError& error) {
        return error.what();
    }
}

TEST(LoadCupti, does_not_look_elsewhere_when_what_the_user_names_does_not_load) {
    PlantedFolder folder;
    folder.plant("mine", "not a library");
    const std::string why = refusal(
        {{.name = folder.path("mine"), .is_demanded = true}, {.name = folder.path("other")}});
    EXPECT_THAT(why, HasSubstr("COALPROF_CUPTI names a library that cannot be used"));
    EXPECT_THAT(why, HasSubstr(folder.path("mine")));
    EXPECT_THAT(why, Not(HasSubstr(folder.path("other"))));
}

TEST(LoadCupti, refuses_a_relative_path_although_the_library_is_there) {
    for (const char* named : {"libcupti.so.13", "./libcupti.so.13", "lib"})
        EXPECT_THAT(refusal({{.name = named, .is_demanded = true}}), HasSubstr("no absolute path"));
}

TEST(LoadCupti, says_what_it_tried) {
    PlantedFolder folder;
    folder.plant("one", "not a library");
    const std::string why = refusal({{.name = folder.path("one")}, {.name = folder.path("two")}});
    EXPECT_THAT(why, HasSubstr("CUPTI was not found"));
    EXPECT_THAT(why, HasSubstr(folder.path("one")));
    EXPECT_THAT(why, HasSubstr(folder.path("two")));
    EXPECT_THAT(why, HasSubstr("COALPROF_CUPTI"));
}

// libc.so.6 stands for a libcupti from before CUDA 12.6: it loads and has none of the calls.
TEST(LoadCupti, passes_over_a_library_without_the_host_calls) {
    EXPECT_THAT(refusal({{.name = "libc.so.6"}}), HasSubstr("older than CUDA 12.6"));
}

TEST(LoadCupti, tells_where_it_lies_and_what_it_lacks) {
    try {
        const LoadedCupti& found = loaded_cupti();
        EXPECT_TRUE(std::filesystem::exists(found.path)) << found.path;
        EXPECT_GT(found.version, 0u);
        EXPECT_TRUE(missing_host_calls(found.api).empty());
        CuptiApi older = found.api;
        older.range_enable = nullptr;
        EXPECT_THAT(missing_target_calls(older), ElementsAre("cuptiRangeProfilerEnable"));
    } catch (const CountersError& error) {
        GTEST_SKIP() << error.what();
    }
}

}  // namespace
}  // namespace coalprof
