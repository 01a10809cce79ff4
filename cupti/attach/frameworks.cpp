#include "cupti/attach/frameworks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "cupti/attach/stand_in.h"
#include "cupti/attach/xla.h"

namespace coalprof {

namespace {

// The last release with the same PTX number in all versions of Triton.
constexpr int release_for_triton = 12080;

struct StandIns {
    std::string usual;
    std::string blackwell;
    bool are_there = false;
};

StandIns write_stand_ins(const std::string& folder, int driver_version) {
    StandIns all{.usual = folder + "/ptxas", .blackwell = folder + "/ptxas-blackwell"};
    if (driver_version == 0) return all;
    all.are_there =
        write_stand_in(all.usual, {.release = std::min(driver_version, release_for_triton)}) &&
        write_stand_in(all.blackwell, {.release = std::min(driver_version, latest_release)});
    return all;
}

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

}  // namespace

NamesAndValues variables_for_ptx(const std::string& folder, int driver_version,
                                 const std::set<std::string>& libraries) {
    NamesAndValues all;
    // The user's lasting caches hold machine code, and must not get PTX.
    if (!is_set("CUPY_COMPILE_WITH_PTX"))
        all = {{"CUPY_COMPILE_WITH_PTX", "1"}, {"CUPY_CACHE_IN_MEMORY", "1"}};
    const StandIns compilers = write_stand_ins(folder, driver_version);
    if (compilers.are_there && !is_set("TRITON_PTXAS_PATH"))
        all.insert(all.end(), {{"TRITON_PTXAS_PATH", compilers.usual},
                               {"TRITON_PTXAS_BLACKWELL_PATH", compilers.blackwell},
                               {"TRITON_CACHE_DIR", folder + "/triton"},
                               {"TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1"}});
    std::ranges::move(variables_for_xla(libraries, folder, driver_version),
                      std::back_inserter(all));
    return all;
}

namespace {

constexpr const char* linker_name = "libnvJitLink.so.";
constexpr const char* preload_variable = "LD_PRELOAD";

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

}  // namespace

bool may_hold_linker(const std::string& path) {
    const std::string name = file_name(path);
    return name.starts_with(linker_name) || name.starts_with("nvjitlink.");
}

std::vector<std::pair<std::string, std::string>> variables_for_linkers(
    const std::set<std::string>& libraries, const std::string& folder, const std::string& library) {
    bool may_link = false;
    std::set<std::string> releases;
    for (const std::string& path : libraries) {
        may_link = may_link || may_hold_linker(path);
        const std::string name = file_name(path);
        if (name.starts_with(linker_name))
            releases.insert(name.substr(std::string_view(linker_name).size(), 2));
    }
    const bool is_known = std::ranges::all_of(
        releases, [](const std::string& one) { return one == "12" || one == "13"; });
    if (!may_link || !is_known || releases.size() > 1 || !std::filesystem::exists(library))
        return {};
    const char* theirs = std::getenv(preload_variable);
    return {{preload_variable, theirs && *theirs ? std::string(theirs) + ':' + library : library},
            {"NUMBA_CACHE_DIR", folder + "/numba"}};
}

}  // namespace coalprof
