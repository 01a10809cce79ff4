#include "cupti/attach/linkers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace coalprof {
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
