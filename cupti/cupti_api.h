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
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"

namespace coalprof {

// The places of libcupti in search order. Pure: it looks at an environment and a folder tree that
// tests can plant.
struct LibrarySearch {
    std::function<std::optional<std::string>(const char*)> environment;
    std::filesystem::path root = "/";
    // CUDA version of the driver, 13000 for 13.0; 0: not known. libcupti.so.13 does not work with a
    // driver older than 13.0, but libcupti.so.12 works with newer ones, so an old driver is offered
    // .12 first.
    std::uint32_t driver_version = 0;
};

// The environment of this process and the real file system.
LibrarySearch process_library_search(std::uint32_t driver_version);

struct LibraryCandidate {
    std::string name;          // name for dlopen: a soname or an absolute path
    bool if_loaded = false;    // only if the process has it already
    bool is_demanded = false;  // the user's choice: if it does not load, nothing else is tried
};

// Already loaded; $COALPROF_CUPTI (a file, or a folder that holds one); by soname, as the loader is
// set up; $CUDA_HOME and $CUDA_PATH; $CONDA_PREFIX and the Python packages of $VIRTUAL_ENV;
// /usr/local/cuda, then /usr/local/cuda-* from the newest on. Paths must exist, and variables must
// hold absolute paths: load_cupti() refuses another one in COALPROF_CUPTI.
std::vector<LibraryCandidate> library_candidates(const LibrarySearch& search);

// member, symbol. Host: answers with no GPU and no driver.
#define COALPROF_CUPTI_HOST_CALLS(X)                                    \
    X(host_get_supported_chips, cuptiProfilerHostGetSupportedChips)     \
    X(host_initialize, cuptiProfilerHostInitialize)                     \
    X(host_deinitialize, cuptiProfilerHostDeinitialize)                 \
    X(host_get_metric_properties, cuptiProfilerHostGetMetricProperties) \
    X(host_config_add_metrics, cuptiProfilerHostConfigAddMetrics)       \
    X(host_get_config_image_size, cuptiProfilerHostGetConfigImageSize)  \
    X(host_get_config_image, cuptiProfilerHostGetConfigImage)           \
    X(host_get_num_of_passes, cuptiProfilerHostGetNumOfPasses)          \
    X(host_evaluate_to_gpu_values, cuptiProfilerHostEvaluateToGpuValues)
// Target: only after the driver has been started (driver.h says why). The range profiler is that of
// CUDA 12.6 Update 2 and newer.
#define COALPROF_CUPTI_TARGET_CALLS(X)                                      \
    X(profiler_initialize, cuptiProfilerInitialize)                         \
    X(profiler_deinitialize, cuptiProfilerDeInitialize)                     \
    X(profiler_device_supported, cuptiProfilerDeviceSupported)              \
    X(device_get_chip_name, cuptiDeviceGetChipName)                         \
    X(range_enable, cuptiRangeProfilerEnable)                               \
    X(range_disable, cuptiRangeProfilerDisable)                             \
    X(range_get_counter_data_size, cuptiRangeProfilerGetCounterDataSize)    \
    X(range_image_initialize, cuptiRangeProfilerCounterDataImageInitialize) \
    X(range_set_config, cuptiRangeProfilerSetConfig)                        \
    X(range_start, cuptiRangeProfilerStart)                                 \
    X(range_stop, cuptiRangeProfilerStop)                                   \
    X(range_push, cuptiRangeProfilerPushRange)                              \
    X(range_pop, cuptiRangeProfilerPopRange)                                \
    X(range_decode, cuptiRangeProfilerDecodeData)                           \
    X(range_get_counter_data_info, cuptiRangeProfilerGetCounterDataInfo)    \
    X(range_get_range_info, cuptiRangeProfilerCounterDataGetRangeInfo)
// Counts of single instructions of machine code, and where these come from.
#define COALPROF_CUPTI_SASS_CALLS(X)                               \
    X(sass_get_properties, cuptiSassMetricsGetProperties)          \
    X(sass_set_config, cuptiSassMetricsSetConfig)                  \
    X(sass_unset_config, cuptiSassMetricsUnsetConfig)              \
    X(sass_enable, cuptiSassMetricsEnable)                         \
    X(sass_disable, cuptiSassMetricsDisable)                       \
    X(sass_get_data_properties, cuptiSassMetricsGetDataProperties) \
    X(sass_flush_data, cuptiSassMetricsFlushData)                  \
    X(get_cubin_crc, cuptiGetCubinCrc)                             \
    X(get_sass_to_source, cuptiGetSassToSourceCorrelation)

// A call that the library lacks stays null: a feature absent, not an error.
struct CuptiApi {
    decltype(&::cuptiGetVersion) get_version = nullptr;
#define COALPROF_CUPTI_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
    COALPROF_CUPTI_HOST_CALLS(COALPROF_CUPTI_MEMBER)
    COALPROF_CUPTI_TARGET_CALLS(COALPROF_CUPTI_MEMBER)
    COALPROF_CUPTI_SASS_CALLS(COALPROF_CUPTI_MEMBER)
#undef COALPROF_CUPTI_MEMBER
};

// Names of the calls of each part that the library lacks; empty: complete.
std::vector<std::string> missing_host_calls(const CuptiApi& api);
std::vector<std::string> missing_target_calls(const CuptiApi& api);
std::vector<std::string> missing_sass_calls(const CuptiApi& api);

struct LoadedCupti {
    CuptiApi api;
    std::string path;           // file of the library that was loaded
    std::uint32_t version = 0;  // CUPTI's own: 130001 with CUDA 13.0, 24 with 12.6; 0: unknown
    std::string nvperf_path;    // libnvperf_host.so beside it; empty: left to the loader
};

// Loads the first candidate that loads and has the host calls. Throws CountersError naming all that
// were tried.
LoadedCupti load_cupti(const std::vector<LibraryCandidate>& candidates);

// The library of this process, loaded at the first call by this process's search order.
const LoadedCupti& loaded_cupti();

// A zeroed parameter block of a CUPTI call.
template <typename Params>
Params cupti_params(std::size_t size) {
    Params params{};
    params.structSize = size;
    return params;
}
#define COALPROF_CUPTI_PARAMS(Params) cupti_params<Params>(Params##_STRUCT_SIZE)

// The names as C strings for CUPTI; they must outlive the call.
std::vector<const char*> pointers_to(const std::vector<std::string>& names);

// The meaning of CUPTI's result codes for a user, and what to do about each. CUPTI's texts are not
// used: cuptiGetErrorMessage has one for five codes only, cuptiGetResultString none for 36 and 37
// (CUPTI 13.0).
//
// "cannot <doing>: <reason> (<name>). <remedy>". `doing` completes "cannot ". The code is a plain
// int, so that one from a newer library than our headers is a value like any other.
std::string describe_cupti_failure(int code, std::string_view doing);

// Throws CountersError with that sentence unless `code` is 0.
void check_cupti(int code, std::string_view doing);

}  // namespace coalprof
