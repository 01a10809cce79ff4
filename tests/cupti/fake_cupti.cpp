#include "cupti/fake_cupti.h"

#include <string.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace coalprof {
namespace {

FakeCupti* fake = nullptr;

using HostState = FakeCupti::HostState;

HostState* host_of(CUpti_Profiler_Host_Object* object) {
    auto* host = reinterpret_cast<HostState*>(object);
    if (!fake->hosts.contains(host)) fake->breach("a host object that does not exist");
    return host;
}

CUptiResult answer(int code) { return static_cast<CUptiResult>(code); }

// Says that a call is out of order, as CUPTI does.
CUptiResult out_of_order(const char* call) {
    fake->breach(std::string(call) + " out of order");
    return CUPTI_ERROR_INVALID_OPERATION;
}

bool is_known(const std::string& metric) {
    const std::string base = metric.substr(0, metric.find('.'));
    return !fake->unknown_metrics.contains(base);
}

CUptiResult get_version(std::uint32_t* version) {
    *version = 130001;
    return CUPTI_SUCCESS;
}

CUptiResult host_get_supported_chips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
    static const char* const chips[] = {"GH100"};
    params->numChips = 1;
    params->ppChipNames = chips;
    return answer(fake->note("HostGetSupportedChips"));
}

CUptiResult host_initialize(CUpti_Profiler_Host_Initialize_Params* params) {
    if (const int code = fake->note("HostInitialize")) return answer(code);
    if (params->pChipName != fake->chip) return CUPTI_ERROR_INVALID_CHIP_NAME;
    auto* host = new HostState;
    fake->hosts.insert(host);
    params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(host);
    return CUPTI_SUCCESS;
}

CUptiResult host_deinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
    HostState* host = host_of(params->pHostObject);
    if (fake->hosts.erase(host) > 0) delete host;
    return answer(fake->note("HostDeinitialize"));
}

CUptiResult host_get_metric_properties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
    if (const int code = fake->note("HostGetMetricProperties")) return answer(code);
    return is_known(params->pMetricName) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_NAME;
}

CUptiResult host_config_add_metrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
    if (const int code = fake->note("HostConfigAddMetrics")) return answer(code);
    HostState* host = host_of(params->pHostObject);
    for (std::size_t i = 0; i < params->numMetrics; ++i)
        if (!is_known(params->ppMetricNames[i])) return CUPTI_ERROR_INVALID_PARAMETER;
    host->metrics.assign(params->ppMetricNames, params->ppMetricNames + params->numMetrics);
    return CUPTI_SUCCESS;
}

CUptiResult host_get_config_image_size(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
    params->configImageSize = 1;
    return answer(fake->note("HostGetConfigImageSize"));
}

// The image is one byte: the number of passes.
CUptiResult host_get_config_image(CUpti_Profiler_Host_GetConfigImage_Params* params) {
    if (const int code = fake->note("HostGetConfigImage")) return answer(code);
    params->pConfigImage[0] =
        static_cast<std::uint8_t>(fake->passes_of(host_of(params->pHostObject)->metrics));
    return CUPTI_SUCCESS;
}

CUptiResult host_get_num_of_passes(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
    params->numOfPasses = params->pConfigImage[0];
    return answer(fake->note("HostGetNumOfPasses"));
}

CUptiResult host_evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    if (const int code = fake->note("HostEvaluateToGpuValues")) return answer(code);
    const HostState* host = host_of(params->pHostObject);
    if (params->rangeIndex >= fake->decoded.size()) return CUPTI_ERROR_INVALID_PARAMETER;
    for (std::size_t i = 0; i < params->numMetrics; ++i) {
        const std::string metric = params->ppMetricNames[i];
        if (std::ranges::find(host->metrics, metric) == host->metrics.end())
            fake->breach("evaluates " + metric + ", which was not collected");
        params->pMetricValues[i] = fake->value(metric, fake->decoded[params->rangeIndex]);
    }
    return CUPTI_SUCCESS;
}

CUptiResult profiler_initialize(CUpti_Profiler_Initialize_Params*) {
    if (const int code = fake->note("ProfilerInitialize")) return answer(code);
    if (fake->is_initialized) return out_of_order("ProfilerInitialize");
    fake->is_initialized = true;
    return CUPTI_SUCCESS;
}

CUptiResult profiler_deinitialize(CUpti_Profiler_DeInitialize_Params*) {
    if (!fake->is_initialized) return out_of_order("ProfilerDeInitialize");
    fake->is_initialized = false;
    return answer(fake->note("ProfilerDeInitialize"));
}

CUptiResult profiler_device_supported(CUpti_Profiler_DeviceSupported_Params* params) {
    if (params->api != CUPTI_PROFILER_RANGE_PROFILING) fake->breach("asks for another API");
    params->isSupported = fake->support.isSupported;
    params->architecture = fake->support.architecture;
    params->sli = fake->support.sli;
    params->vGpu = fake->support.vGpu;
    params->confidentialCompute = fake->support.confidentialCompute;
    params->cmp = fake->support.cmp;
    params->wsl = fake->support.wsl;
    return answer(fake->note("ProfilerDeviceSupported"));
}

CUptiResult device_get_chip_name(CUpti_Device_GetChipName_Params* params) {
    params->pChipName = fake->chip.c_str();
    return answer(fake->note("DeviceGetChipName"));
}

CUptiResult range_enable(CUpti_RangeProfiler_Enable_Params* params) {
    if (const int code = fake->note("RangeEnable")) return answer(code);
    if (!fake->is_initialized || fake->is_enabled || params->ctx == nullptr)
        return out_of_order("RangeEnable");
    fake->is_enabled = true;
    fake->is_configured = false;
    params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(fake);
    return CUPTI_SUCCESS;
}

CUptiResult range_disable(CUpti_RangeProfiler_Disable_Params*) {
    if (!fake->is_enabled) return out_of_order("RangeDisable");
    fake->is_enabled = false;
    return answer(fake->note("RangeDisable"));
}

CUptiResult range_get_counter_data_size(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
    if (const int code = fake->note("RangeGetCounterDataSize")) return answer(code);
    if (!fake->is_enabled || params->maxNumRangeTreeNodes < params->maxNumOfRanges)
        return out_of_order("RangeGetCounterDataSize");
    fake->metric_sets.emplace_back(params->pMetricNames, params->pMetricNames + params->numMetrics);
    params->counterDataSize = 8 * params->maxNumOfRanges;
    return CUPTI_SUCCESS;
}

CUptiResult range_image_initialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
    if (const int code = fake->note("RangeImageInitialize")) return answer(code);
    if (!fake->is_enabled) return out_of_order("RangeImageInitialize");
    fake->counter_data = params->pCounterData;
    return CUPTI_SUCCESS;
}

CUptiResult range_set_config(CUpti_RangeProfiler_SetConfig_Params* params) {
    if (const int code = fake->note("RangeSetConfig")) return answer(code);
    // The second would crash the real one.
    if (!fake->is_enabled || fake->is_configured) return out_of_order("RangeSetConfig");
    if (params->pCounterDataImage != fake->counter_data) fake->breach("another counter data image");
    if (params->range != CUPTI_UserRange || params->replayMode != CUPTI_UserReplay ||
        params->numNestingLevels != 1)
        fake->breach("another mode");
    fake->is_configured = true;
    fake->room = params->maxRangesPerPass;
    fake->session_sizes.push_back(fake->room);
    fake->passes_needed = params->pConfig[0];
    fake->passes_done = 0;
    fake->decoded.clear();
    return CUPTI_SUCCESS;
}

CUptiResult range_start(CUpti_RangeProfiler_Start_Params*) {
    if (const int code = fake->note("RangeStart")) return answer(code);
    if (!fake->is_configured || fake->is_started) return out_of_order("RangeStart");
    fake->is_started = true;
    fake->ranges_of_pass.clear();
    return CUPTI_SUCCESS;
}

CUptiResult range_push(CUpti_RangeProfiler_PushRange_Params* params) {
    if (const int code = fake->note("RangePush")) return answer(code);
    if (!fake->is_started || fake->is_range_open()) return out_of_order("RangePush");
    fake->open_range_ = params->pRangeName;
    return CUPTI_SUCCESS;
}

CUptiResult range_pop(CUpti_RangeProfiler_PopRange_Params*) {
    if (!fake->is_range_open()) return out_of_order("RangePop");
    fake->ranges_of_pass.push_back(std::exchange(fake->open_range_, {}));
    return answer(fake->note("RangePop"));
}

CUptiResult range_stop(CUpti_RangeProfiler_Stop_Params* params) {
    if (!fake->is_started || fake->is_range_open()) return out_of_order("RangeStop");
    fake->is_started = false;
    if (const int code = fake->note("RangeStop")) return answer(code);
    ++fake->passes_done;
    const std::size_t needed = fake->passes_really != 0 ? fake->passes_really : fake->passes_needed;
    params->isAllPassSubmitted = fake->passes_done >= needed ? 1 : 0;
    return CUPTI_SUCCESS;
}

CUptiResult range_decode(CUpti_RangeProfiler_DecodeData_Params* params) {
    if (const int code = fake->note("RangeDecode")) return answer(code);
    if (!fake->is_configured || fake->is_started) return out_of_order("RangeDecode");
    fake->decoded = fake->ranges_of_pass;
    params->numOfRangeDropped = fake->dropped;
    if (fake->decoded.size() > fake->room) fake->breach("more ranges than room was made for");
    fake->decoded.resize(fake->decoded.size() - std::min(fake->dropped, fake->decoded.size()));
    if (fake->returns_ranges_backwards) std::ranges::reverse(fake->decoded);
    return CUPTI_SUCCESS;
}

CUptiResult range_get_counter_data_info(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    params->numTotalRanges = fake->decoded.size();
    return answer(fake->note("RangeGetCounterDataInfo"));
}

CUptiResult range_get_range_info(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* params) {
    if (const int code = fake->note("RangeGetRangeInfo")) return answer(code);
    params->rangeName = fake->decoded[params->rangeIndex].c_str();
    return CUPTI_SUCCESS;
}

// Any number that differs between metrics.
std::uint64_t sass_id(const std::string& metric) {
    std::uint64_t id = 17;
    for (const char c : metric) id = id * 31 + static_cast<unsigned char>(c);
    return id;
}

CUptiResult sass_get_properties(CUpti_SassMetrics_GetProperties_Params* params) {
    if (const int code = fake->note("SassGetProperties")) return answer(code);
    if (fake->calls("HostGetSupportedChips") == 0) return CUPTI_ERROR_NOT_INITIALIZED;
    if (params->pChipName != fake->chip) return CUPTI_ERROR_INVALID_CHIP_NAME;
    if (!is_known(params->pMetricName)) return CUPTI_ERROR_INVALID_METRIC_NAME;
    params->metric.metricId = sass_id(params->pMetricName);
    return CUPTI_SUCCESS;
}

// Once in a process.
CUptiResult sass_set_config(CUpti_SassMetricsSetConfig_Params* params) {
    if (const int code = fake->note("SassSetConfig")) return answer(code);
    if (!fake->is_initialized) return CUPTI_ERROR_INVALID_PARAMETER;
    if (fake->is_enabled) fake->breach("SASS metrics beside the range profiler");
    if (fake->was_sass_configured || params->numOfMetricConfig > fake->most_sass_metrics)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    fake->was_sass_configured = fake->is_sass_configured = true;
    for (std::size_t i = 0; i < params->numOfMetricConfig; ++i)
        fake->sass_metrics.push_back(params->pConfigs[i].metricId);
    return CUPTI_SUCCESS;
}

CUptiResult sass_unset_config(CUpti_SassMetricsUnsetConfig_Params*) {
    if (!fake->is_sass_configured || fake->is_sass_enabled) return out_of_order("SassUnsetConfig");
    fake->is_sass_configured = false;
    return answer(fake->note("SassUnsetConfig"));
}

CUptiResult sass_enable(CUpti_SassMetricsEnable_Params* params) {
    if (const int code = fake->note("SassEnable")) return answer(code);
    if (!fake->is_sass_configured || fake->is_sass_enabled || params->ctx == nullptr)
        return out_of_order("SassEnable");
    if (params->enableLazyPatching == 0) return CUPTI_ERROR_INVALID_PARAMETER;
    fake->is_sass_enabled = true;
    return CUPTI_SUCCESS;
}

CUptiResult sass_disable(CUpti_SassMetricsDisable_Params* params) {
    if (!fake->is_sass_enabled) return out_of_order("SassDisable");
    fake->is_sass_enabled = false;
    params->numOfDroppedRecords = fake->dropped;
    return answer(fake->note("SassDisable"));
}

// One for each instruction and metric that applies to it.
template <typename Visit>
void each_sass_record(Visit visit) {
    for (const auto& [offset, counts] : fake->machine_code[fake->sass_function])
        for (const auto& [metric, count] : counts)
            if (std::ranges::count(fake->sass_metrics, sass_id(metric)) > 0)
                visit(offset, sass_id(metric), count * fake->sass_launches);
}

CUptiResult sass_get_data_properties(CUpti_SassMetricsGetDataProperties_Params* params) {
    if (const int code = fake->note("SassGetDataProperties")) return answer(code);
    if (!fake->is_sass_enabled) return out_of_order("SassGetDataProperties");
    params->numOfInstances = 1;
    each_sass_record([&](auto...) { ++params->numOfPatchedInstructionRecords; });
    return CUPTI_SUCCESS;
}

CUptiResult sass_flush_data(CUpti_SassMetricsFlushData_Params* params) {
    if (const int code = fake->note("SassFlushData")) return answer(code);
    if (!fake->is_sass_enabled) return out_of_order("SassFlushData");
    std::size_t i = 0;
    each_sass_record([&](std::uint32_t offset, std::uint64_t metric, std::uint64_t count) {
        CUpti_SassMetrics_Data& record = params->pMetricsData[i++];
        record.functionName = ::strdup(fake->sass_function.c_str());
        record.cubinCrc = 7;
        record.pcOffset = offset;
        record.pInstanceValues[0] = {metric, count};
    });
    return CUPTI_SUCCESS;
}

// The first byte of code is its CRC.
CUptiResult get_cubin_crc(CUpti_GetCubinCrcParams* params) {
    params->cubinCrc = 0x100000000 | *static_cast<const unsigned char*>(params->cubin);
    return answer(fake->note("GetCubinCrc"));
}

CUptiResult get_sass_to_source(CUpti_GetSassToSourceCorrelationParams* params) {
    if (const int code = fake->note("GetSassToSource")) return answer(code);
    const auto line = fake->source_lines.find(params->pcOffset);
    if (line == fake->source_lines.end()) return CUPTI_SUCCESS;  // line 0
    params->lineNumber = line->second;
    params->fileName = ::strdup("k.cu");
    params->dirName = ::strdup("/src");
    return CUPTI_SUCCESS;
}

CUresult init(unsigned) { return static_cast<CUresult>(fake->init_result); }
CUresult driver_get_version(int* version) {
    *version = 13000;
    return CUDA_SUCCESS;
}
CUresult device_get_count(int* count) {
    *count = fake->devices;
    return CUDA_SUCCESS;
}
CUresult device_get(CUdevice* device, int index) {
    *device = index;
    return CUDA_SUCCESS;
}
CUresult context_get_current(CUcontext* context) {
    *context = fake->has_context ? reinterpret_cast<CUcontext>(fake) : nullptr;
    return CUDA_SUCCESS;
}

}  // namespace

FakeCupti::FakeCupti() {
    assert(fake == nullptr);
    fake = this;
    const auto good = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    support.isSupported = support.architecture = support.sli = support.vGpu = good;
    support.confidentialCompute = support.cmp = support.wsl = good;
}

FakeCupti::~FakeCupti() {
    for (HostState* host : hosts) delete host;
    fake = nullptr;
}

CuptiApi FakeCupti::api() const {
    return {.get_version = coalprof::get_version,
            .host_get_supported_chips = coalprof::host_get_supported_chips,
            .host_initialize = coalprof::host_initialize,
            .host_deinitialize = coalprof::host_deinitialize,
            .host_get_metric_properties = coalprof::host_get_metric_properties,
            .host_config_add_metrics = coalprof::host_config_add_metrics,
            .host_get_config_image_size = coalprof::host_get_config_image_size,
            .host_get_config_image = coalprof::host_get_config_image,
            .host_get_num_of_passes = coalprof::host_get_num_of_passes,
            .host_evaluate_to_gpu_values = coalprof::host_evaluate,
            .profiler_initialize = coalprof::profiler_initialize,
            .profiler_deinitialize = coalprof::profiler_deinitialize,
            .profiler_device_supported = coalprof::profiler_device_supported,
            .device_get_chip_name = coalprof::device_get_chip_name,
            .range_enable = coalprof::range_enable,
            .range_disable = coalprof::range_disable,
            .range_get_counter_data_size = coalprof::range_get_counter_data_size,
            .range_image_initialize = coalprof::range_image_initialize,
            .range_set_config = coalprof::range_set_config,
            .range_start = coalprof::range_start,
            .range_stop = coalprof::range_stop,
            .range_push = coalprof::range_push,
            .range_pop = coalprof::range_pop,
            .range_decode = coalprof::range_decode,
            .range_get_counter_data_info = coalprof::range_get_counter_data_info,
            .range_get_range_info = coalprof::range_get_range_info,
            .sass_get_properties = coalprof::sass_get_properties,
            .sass_set_config = coalprof::sass_set_config,
            .sass_unset_config = coalprof::sass_unset_config,
            .sass_enable = coalprof::sass_enable,
            .sass_disable = coalprof::sass_disable,
            .sass_get_data_properties = coalprof::sass_get_data_properties,
            .sass_flush_data = coalprof::sass_flush_data,
            .get_cubin_crc = coalprof::get_cubin_crc,
            .get_sass_to_source = coalprof::get_sass_to_source};
}

CounterDriver FakeCupti::driver() const {
    return {.init = coalprof::init,
            .driver_get_version = coalprof::driver_get_version,
            .device_get_count = coalprof::device_get_count,
            .device_get = coalprof::device_get,
            .context_get_current = coalprof::context_get_current};
}

int FakeCupti::note(const std::string& call) {
    const int nth = ++calls_[call];
    if (call.starts_with("Sass") && call != "SassGetProperties") sass_calls.push_back(call);
    const auto fault = faults_.find({call, nth});
    return fault == faults_.end() ? 0 : fault->second;
}

void FakeCupti::launched(const std::string& function) {
    if (!is_sass_enabled) return;
    if (sass_launches == 0) sass_function = function;
    if (function == sass_function) ++sass_launches;
}

int FakeCupti::calls(const std::string& call) const {
    const auto found = calls_.find(call);
    return found == calls_.end() ? 0 : found->second;
}

std::size_t FakeCupti::passes_of(const std::vector<std::string>& metrics) const {
    return metrics.at(0).starts_with("smsp__sass_") ? 1 : passes;
}

std::vector<std::string> FakeCupti::breaches() const {
    std::vector<std::string> all = breaches_;
    if (is_initialized) all.push_back("the profiler is still initialised");
    if (is_enabled) all.push_back("the range profiler is still enabled");
    if (is_sass_enabled) all.push_back("SASS metrics are still enabled");
    if (is_sass_configured) all.push_back("SASS metrics are still configured");
    if (is_started) all.push_back("a pass is still open");
    if (!hosts.empty()) all.push_back("a host object was left behind");
    return all;
}

}  // namespace coalprof
