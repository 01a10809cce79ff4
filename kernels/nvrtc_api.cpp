#include "kernels/nvrtc_api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstdlib>

namespace coalprof {

namespace {

constexpr std::array sonames{"libnvrtc.so.13", "libnvrtc.so.12"};

std::string path_of(void* handle, const std::string& asked) {
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0')
        return map->l_name;
    return asked;
}

std::optional<NvrtcApi> table_of(void* handle) {
    NvrtcApi api;
    bool complete = true;
#define COALPROF_LOAD(member, symbol)                                            \
    api.member = reinterpret_cast<decltype(api.member)>(dlsym(handle, #symbol)); \
    complete = complete && api.member != nullptr;
    COALPROF_NVRTC_CALLS(COALPROF_LOAD)
#undef COALPROF_LOAD
    if (!complete) return std::nullopt;
    return api;
}

std::optional<NvrtcLibrary> loaded_from(const std::string& name, int flags) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
    if (handle == nullptr) return std::nullopt;
    const auto api = table_of(handle);
    if (!api) return std::nullopt;
    return NvrtcLibrary{.api = api, .path = path_of(handle, name), .sentence = {}};
}

void add_places_of(const char* variable, const char* soname, std::vector<std::string>& names) {
    const char* home = std::getenv(variable);
    if (home == nullptr || *home != '/') return;  // a relative path depends on the current folder
    names.push_back(fmt::format("{}/lib64/{}", home, soname));
    names.push_back(fmt::format("{}/lib/{}", home, soname));
}

}  // namespace

std::vector<std::string> nvrtc_candidates(int driver_version) {
    std::vector<const char*> order(sonames.begin(), sonames.end());
    if (driver_version != 0 && driver_version < 13000) order = {sonames[1], sonames[0]};
    std::vector<std::string> names;
    for (const char* soname : order) {
        add_places_of("CUDA_HOME", soname, names);
        add_places_of("CUDA_PATH", soname, names);
        names.emplace_back(soname);
        names.push_back(fmt::format("/usr/local/cuda/lib64/{}", soname));
    }
    return names;
}

NvrtcLibrary load_nvrtc(int driver_version) {
    for (const char* soname : sonames)
        if (auto library = loaded_from(soname, RTLD_NOLOAD)) return *library;
    for (const std::string& name : nvrtc_candidates(driver_version))
        if (auto library = loaded_from(name, 0)) return *library;
    return {.api = std::nullopt,
            .path = {},
            .sentence = fmt::format(
                "cannot compile kernels: neither {} nor {} was found. Install the CUDA toolkit's "
                "NVRTC (package cuda-nvrtc) or set CUDA_HOME to the toolkit",
                sonames[0], sonames[1])};
}

int version_of(const NvrtcApi& api) {
    int major = 0;
    int minor = 0;
    return api.version(&major, &minor) == NVRTC_SUCCESS ? 1000 * major + 10 * minor : 0;
}

}  // namespace coalprof
