#include "cupti/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <filesystem>
#include <type_traits>

#include "core/device/device.h"
#include "core/runtime/steps.h"
#include "cupti/driver.h"

namespace coalprof {
namespace {

CuptiApi bind_all(void* library) {
    CuptiApi api;
#define COALPROF_BIND(member, symbol) \
    api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol));
    COALPROF_BIND(get_version, cuptiGetVersion)
    COALPROF_CUPTI_HOST_CALLS(COALPROF_BIND)
    COALPROF_CUPTI_TARGET_CALLS(COALPROF_BIND)
    COALPROF_CUPTI_SASS_CALLS(COALPROF_BIND)
#undef COALPROF_BIND
    return api;
}

std::filesystem::path path_of(void* library, const std::string& name) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr)
        return map->l_name;
    return name;
}

// libcupti loads libnvperf_host.so by its bare name on first use, and answers NOT_INITIALIZED when
// the loader does not find it (seen with 13.0.85); loaded beforehand by its path, it is found.
std::string preload_nvperf(const std::filesystem::path& cupti_path) {
    if (!cupti_path.is_absolute()) return {};
    const std::filesystem::path beside = cupti_path.parent_path() / "libnvperf_host.so";
    if (dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return {};
    return beside.string();
}

void* open_candidate(const LibraryCandidate& candidate) {
    // For a path, libnvperf_host.so is loaded first.
    if (!candidate.if_loaded) preload_nvperf(candidate.name);
    return dlopen(candidate.name.c_str(),
                  RTLD_NOW | RTLD_GLOBAL | (candidate.if_loaded ? RTLD_NOLOAD : 0));
}

LoadedCupti describe(void* library, const std::string& name) {
    LoadedCupti loaded;
    loaded.api = bind_all(library);
    const std::filesystem::path path = path_of(library, name);
    loaded.path = path.string();
    loaded.nvperf_path = preload_nvperf(path);
    if (loaded.api.get_version != nullptr) loaded.api.get_version(&loaded.version);
    return loaded;
}

std::string why_not_loaded() {
    const char* text = dlerror();
    return text != nullptr ? text : "dlopen failed without a reason";
}

}  // namespace

#define COALPROF_NOTE_MISSING(member, symbol) \
    if (api.member == nullptr) missing.emplace_back(#symbol);

std::vector<std::string> missing_host_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    COALPROF_CUPTI_HOST_CALLS(COALPROF_NOTE_MISSING)
    return missing;
}

std::vector<std::string> missing_target_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    COALPROF_CUPTI_TARGET_CALLS(COALPROF_NOTE_MISSING)
    return missing;
}

std::vector<std::string> missing_sass_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    COALPROF_CUPTI_SASS_CALLS(COALPROF_NOTE_MISSING)
    return missing;
}

LoadedCupti load_cupti(const std::vector<LibraryCandidate>& candidates) {
    std::vector<std::string> refused;
    for (const LibraryCandidate& candidate : candidates) {
        if (candidate.is_demanded && !std::filesystem::path(candidate.name).is_absolute())
            throw CountersError(
                fmt::format("cannot read counters: COALPROF_CUPTI={} is no absolute path; name the "
                            "library, or its folder, from / on",
                            candidate.name));
        void* library = open_candidate(candidate);
        if (library != nullptr) {
            LoadedCupti loaded = describe(library, candidate.name);
            if (missing_host_calls(loaded.api).empty()) return loaded;
            refused.push_back(fmt::format("{} is older than CUDA 12.6", loaded.path));
        } else if (!candidate.if_loaded) {
            refused.push_back(why_not_loaded());
        }
        if (candidate.is_demanded && !refused.empty())
            throw CountersError(fmt::format(
                "cannot read counters: COALPROF_CUPTI names a library that cannot be used: {}",
                refused.back()));
    }
    throw CountersError(fmt::format(
        "cannot read counters: CUPTI was not found ({}). Install it with the CUDA toolkit (12.6 "
        "Update 2 or newer), or name its file in COALPROF_CUPTI.",
        fmt::join(refused, "; ")));
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return pointers;
}

const LoadedCupti& loaded_cupti() {
    // Never destroyed: a counted program's exit handler still calls it.
    static const auto& loaded = *new LoadedCupti([] {
        const Step step("CUPTI loaded");
        std::uint32_t driver_version = 0;
        try {
            driver_version = driver_cuda_version(counter_driver());
        } catch (const CountersError&) {
            // Without a driver, names and passes of the newest CUPTI are still available.
        }
        return load_cupti(library_candidates(process_library_search(driver_version)));
    }());
    return loaded;
}

}  // namespace coalprof
