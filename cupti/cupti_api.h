// The CUPTI calls that coalprof makes, as a table of function pointers. The library is loaded at
// run time, so that one binary serves machines with and without it; a plain struct, so that a
// scripted fake can stand in.
#pragma once

#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cupti/library_search.h"

namespace coalprof {

// A call that the library lacks stays null: a missing feature, not an error.
struct CuptiApi {
    decltype(&::cuptiGetVersion) get_version = nullptr;

    // Host: works without GPU and driver.
    decltype(&::cuptiProfilerHostGetSupportedChips) host_get_supported_chips = nullptr;
    decltype(&::cuptiProfilerHostInitialize) host_initialize = nullptr;
    decltype(&::cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
    decltype(&::cuptiProfilerHostGetMetricProperties) host_get_metric_properties = nullptr;
    decltype(&::cuptiProfilerHostConfigAddMetrics) host_config_add_metrics = nullptr;
    decltype(&::cuptiProfilerHostGetConfigImageSize) host_get_config_image_size = nullptr;
    decltype(&::cuptiProfilerHostGetConfigImage) host_get_config_image = nullptr;
    decltype(&::cuptiProfilerHostGetNumOfPasses) host_get_num_of_passes = nullptr;
    decltype(&::cuptiProfilerHostEvaluateToGpuValues) host_evaluate_to_gpu_values = nullptr;

    // Target: only after the driver has been started (see driver.h).
    decltype(&::cuptiProfilerInitialize) profiler_initialize = nullptr;
    decltype(&::cuptiProfilerDeInitialize) profiler_deinitialize = nullptr;
    decltype(&::cuptiProfilerDeviceSupported) profiler_device_supported = nullptr;
    decltype(&::cuptiDeviceGetChipName) device_get_chip_name = nullptr;

    // Range profiler: CUDA 12.6 Update 2 and newer.
    decltype(&::cuptiRangeProfilerEnable) range_enable = nullptr;
    decltype(&::cuptiRangeProfilerDisable) range_disable = nullptr;
    decltype(&::cuptiRangeProfilerGetCounterDataSize) range_get_counter_data_size = nullptr;
    decltype(&::cuptiRangeProfilerCounterDataImageInitialize) range_image_initialize = nullptr;
    decltype(&::cuptiRangeProfilerSetConfig) range_set_config = nullptr;
    decltype(&::cuptiRangeProfilerStart) range_start = nullptr;
    decltype(&::cuptiRangeProfilerStop) range_stop = nullptr;
    decltype(&::cuptiRangeProfilerPushRange) range_push = nullptr;
    decltype(&::cuptiRangeProfilerPopRange) range_pop = nullptr;
    decltype(&::cuptiRangeProfilerDecodeData) range_decode = nullptr;
    decltype(&::cuptiRangeProfilerGetCounterDataInfo) range_get_counter_data_info = nullptr;
    decltype(&::cuptiRangeProfilerCounterDataGetRangeInfo) range_get_range_info = nullptr;

    // Counts of single instructions of machine code, and their source.
    decltype(&::cuptiSassMetricsGetProperties) sass_get_properties = nullptr;
    decltype(&::cuptiSassMetricsSetConfig) sass_set_config = nullptr;
    decltype(&::cuptiSassMetricsUnsetConfig) sass_unset_config = nullptr;
    decltype(&::cuptiSassMetricsEnable) sass_enable = nullptr;
    decltype(&::cuptiSassMetricsDisable) sass_disable = nullptr;
    decltype(&::cuptiSassMetricsGetDataProperties) sass_get_data_properties = nullptr;
    decltype(&::cuptiSassMetricsFlushData) sass_flush_data = nullptr;
    decltype(&::cuptiGetCubinCrc) get_cubin_crc = nullptr;
    decltype(&::cuptiGetSassToSourceCorrelation) get_sass_to_source = nullptr;
};

// Names of the calls of each part that the library lacks; empty: complete.
std::vector<std::string> missing_host_calls(const CuptiApi& api);
std::vector<std::string> missing_target_calls(const CuptiApi& api);
std::vector<std::string> missing_sass_calls(const CuptiApi& api);

struct LoadedCupti {
    CuptiApi api;
    std::string path;           // of the library that was loaded
    std::uint32_t version = 0;  // CUPTI's own: 130001 with CUDA 13.0, 24 with 12.6; 0: unknown
    std::string nvperf_path;    // libnvperf_host.so beside it; empty: left to the loader
};

// Loads the first candidate that loads and has the host calls. Throws CountersError naming all that
// were tried.
LoadedCupti load_cupti(const std::vector<LibraryCandidate>& candidates);

// The library of this process, loaded at the first call by this process's search order.
const LoadedCupti& loaded_cupti();

// A zeroed parameter block of a CUPTI call; `size` is its NAME_STRUCT_SIZE.
template <typename Params>
Params cupti_params(std::size_t size) {
    Params params{};
    params.structSize = size;
    return params;
}

// The names as C strings for CUPTI; they must outlive the call.
std::vector<const char*> pointers_to(const std::vector<std::string>& names);

}  // namespace coalprof
