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

// One list of the calls, for loading and for naming missing ones: visit(slot, symbol).
template <typename Api, typename Visit>
void each_host_call(Api& api, Visit visit) {
    visit(api.host_get_supported_chips, "cuptiProfilerHostGetSupportedChips");
    visit(api.host_initialize, "cuptiProfilerHostInitialize");
    visit(api.host_deinitialize, "cuptiProfilerHostDeinitialize");
    visit(api.host_get_metric_properties, "cuptiProfilerHostGetMetricProperties");
    visit(api.host_config_add_metrics, "cuptiProfilerHostConfigAddMetrics");
    visit(api.host_get_config_image_size, "cuptiProfilerHostGetConfigImageSize");
    visit(api.host_get_config_image, "cuptiProfilerHostGetConfigImage");
    visit(api.host_get_num_of_passes, "cuptiProfilerHostGetNumOfPasses");
    visit(api.host_evaluate_to_gpu_values, "cuptiProfilerHostEvaluateToGpuValues");
}

template <typename Api, typename Visit>
void each_target_call(Api& api, Visit visit) {
    visit(api.profiler_initialize, "cuptiProfilerInitialize");
    visit(api.profiler_deinitialize, "cuptiProfilerDeInitialize");
    visit(api.profiler_device_supported, "cuptiProfilerDeviceSupported");
    visit(api.device_get_chip_name, "cuptiDeviceGetChipName");
    visit(api.range_enable, "cuptiRangeProfilerEnable");
    visit(api.range_disable, "cuptiRangeProfilerDisable");
    visit(api.range_get_counter_data_size, "cuptiRangeProfilerGetCounterDataSize");
    visit(api.range_image_initialize, "cuptiRangeProfilerCounterDataImageInitialize");
    visit(api.range_set_config, "cuptiRangeProfilerSetConfig");
    visit(api.range_start, "cuptiRangeProfilerStart");
    visit(api.range_stop, "cuptiRangeProfilerStop");
    visit(api.range_push, "cuptiRangeProfilerPushRange");
    visit(api.range_pop, "cuptiRangeProfilerPopRange");
    visit(api.range_decode, "cuptiRangeProfilerDecodeData");
    visit(api.range_get_counter_data_info, "cuptiRangeProfilerGetCounterDataInfo");
    visit(api.range_get_range_info, "cuptiRangeProfilerCounterDataGetRangeInfo");
}

template <typename Api, typename Visit>
void each_sass_call(Api& api, Visit visit) {
    visit(api.sass_get_properties, "cuptiSassMetricsGetProperties");
    visit(api.sass_set_config, "cuptiSassMetricsSetConfig");
    visit(api.sass_unset_config, "cuptiSassMetricsUnsetConfig");
    visit(api.sass_enable, "cuptiSassMetricsEnable");
    visit(api.sass_disable, "cuptiSassMetricsDisable");
    visit(api.sass_get_data_properties, "cuptiSassMetricsGetDataProperties");
    visit(api.sass_flush_data, "cuptiSassMetricsFlushData");
    visit(api.get_cubin_crc, "cuptiGetCubinCrc");
    visit(api.get_sass_to_source, "cuptiGetSassToSourceCorrelation");
}

CuptiApi bind_all(void* library) {
    CuptiApi api;
    const auto bind = [library](auto& slot, const char* symbol) {
        slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(library, symbol));
    };
    bind(api.get_version, "cuptiGetVersion");
    each_host_call(api, bind);
    each_target_call(api, bind);
    each_sass_call(api, bind);
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

std::vector<std::string> missing_host_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    each_host_call(api, [&](const auto& slot, const char* symbol) {
        if (slot == nullptr) missing.emplace_back(symbol);
    });
    return missing;
}

std::vector<std::string> missing_target_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    each_target_call(api, [&](const auto& slot, const char* symbol) {
        if (slot == nullptr) missing.emplace_back(symbol);
    });
    return missing;
}

std::vector<std::string> missing_sass_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    each_sass_call(api, [&](const auto& slot, const char* symbol) {
        if (slot == nullptr) missing.emplace_back(symbol);
    });
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
