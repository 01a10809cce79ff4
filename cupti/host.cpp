#include "cupti/host.h"

#include <fmt/format.h>

#include <limits>

#include "core/device/device.h"
#include "cupti/cupti_api.h"

namespace coalprof {
namespace {

int add_to_config(const HostObject& host, const std::vector<std::string>& metrics) {
    std::vector<const char*> names = pointers_to(metrics);
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    params.pHostObject = host.get();
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    return host.api().host_config_add_metrics(&params);
}

}  // namespace

std::vector<std::string> supported_chips(const CuptiApi& api) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params);
    check_cupti(api.host_get_supported_chips(&params), "list the chips that CUPTI knows");
    return {params.ppChipNames, params.ppChipNames + params.numChips};
}

HostObject::HostObject(const CuptiApi& api, const std::string& chip) : api_(api) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    check_cupti(api.host_initialize(&params), fmt::format("look up the metrics of {}", chip));
    object_ = params.pHostObject;
}

HostObject::~HostObject() {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    params.pHostObject = object_;
    api_.host_deinitialize(&params);  // nothing can be done about a failure here
}

bool ChipMetrics::has(std::string_view metric) const {
    const std::string base(metric.substr(0, metric.find('.')));
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
    params.pHostObject = host_.get();
    params.pMetricName = base.c_str();
    const CUptiResult code = host_.api().host_get_metric_properties(&params);
    if (code == CUPTI_ERROR_INVALID_METRIC_NAME || code == CUPTI_ERROR_INVALID_PARAMETER)
        return false;
    check_cupti(code, fmt::format("look up {} on {}", base, chip_));
    return true;
}

// CUPTI refuses a bad name with INVALID_PARAMETER or UNKNOWN and without a reason (13.0.85), so the
// name is checked in two steps.
std::optional<std::string> ChipMetrics::problem_with(const std::string& metric) const {
    if (!has(metric)) return fmt::format("{} has no metric {}", chip_, metric);
    // Metrics added to a host object stay in it: a fresh one for each question.
    const HostObject scratch(host_.api(), chip_);
    const int code = add_to_config(scratch, {metric});
    if (code == CUPTI_SUCCESS) return std::nullopt;
    if (metric.find('.') == std::string::npos)
        return fmt::format("{} needs a rollup such as .sum, or .ratio where it is a ratio", metric);
    return describe_cupti_failure(code, fmt::format("collect {} on {}", metric, chip_));
}

MetricConfig::MetricConfig(const CuptiApi& api, const std::string& chip,
                           std::vector<std::string> metrics)
    : metrics_(std::move(metrics)), host_(api, chip) {
    add_metrics(chip);
    make_image();
}

void MetricConfig::add_metrics(const std::string& chip) {
    const int code = add_to_config(host_, metrics_);
    if (code == CUPTI_SUCCESS) return;
    // One refused name rejects the whole list, so each is checked to name it.
    const ChipMetrics known(host_.api(), chip);
    for (const std::string& metric : metrics_)
        if (const auto problem = known.problem_with(metric))
            throw CountersError(fmt::format("cannot read counters: {}", *problem));
    check_cupti(code, fmt::format("schedule {} metrics of {}", metrics_.size(), chip));
}

void MetricConfig::make_image() {
    auto size = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host_.get();
    check_cupti(host_.api().host_get_config_image_size(&size), "schedule the metrics");
    image_.resize(size.configImageSize);

    auto image = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    image.pHostObject = host_.get();
    image.configImageSize = image_.size();
    image.pConfigImage = image_.data();
    check_cupti(host_.api().host_get_config_image(&image), "schedule the metrics");

    auto passes = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
    passes.configImageSize = image_.size();
    passes.pConfigImage = image_.data();
    check_cupti(host_.api().host_get_num_of_passes(&passes), "count the passes of the metrics");
    passes_ = passes.numOfPasses;
}

std::vector<double> MetricConfig::evaluate(std::span<const std::uint8_t> counter_data,
                                           std::size_t range_index) const {
    std::vector<const char*> names = pointers_to(metrics_);
    // NaN, so that a value that CUPTI does not set is not taken for a count.
    std::vector<double> values(metrics_.size(), std::numeric_limits<double>::quiet_NaN());
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    params.pHostObject = host_.get();
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = range_index;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    check_cupti(host_.api().host_evaluate_to_gpu_values(&params), "evaluate the counters");
    return values;
}

}  // namespace coalprof
