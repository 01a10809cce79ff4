#include "cupti/range_session.h"

#include <fmt/format.h>

#include "cupti/failures.h"

namespace coalprof {

EnabledProfiler::EnabledProfiler(const CuptiApi& api, CUcontext context) : api_(api) {
    auto params = cupti_params<CUpti_RangeProfiler_Enable_Params>(
        CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
    params.ctx = context;
    check_cupti(api_.range_enable(&params), "switch the GPU's counters on");
    object_ = params.pRangeProfilerObject;
}

EnabledProfiler::~EnabledProfiler() {
    auto params = cupti_params<CUpti_RangeProfiler_Disable_Params>(
        CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = object_;
    api_.range_disable(&params);  // the values are in hand; a failure here changes none of them
}

RangeSession::RangeSession(const CuptiApi& api, CUcontext context, const MetricConfig& config,
                           std::size_t ranges)
    : api_(api), config_(config), profiler_(api, context) {
    size_counter_data(ranges);
    set_config(ranges);
}

RangeSession::~RangeSession() { abandon(); }

void RangeSession::size_counter_data(std::size_t ranges) {
    std::vector<const char*> names = pointers_to(config_.metrics());
    auto size = cupti_params<CUpti_RangeProfiler_GetCounterDataSize_Params>(
        CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
    size.pRangeProfilerObject = profiler_.get();
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    check_cupti(api_.range_get_counter_data_size(&size),
                fmt::format("make room for the counters of {} points", ranges));
    counter_data_.resize(size.counterDataSize);

    clear();
}

void RangeSession::clear() {
    auto image = cupti_params<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    image.pRangeProfilerObject = profiler_.get();
    image.counterDataSize = counter_data_.size();
    image.pCounterData = counter_data_.data();
    check_cupti(api_.range_image_initialize(&image), "make room for counters");
}

void RangeSession::set_config(std::size_t ranges) {
    auto params = cupti_params<CUpti_RangeProfiler_SetConfig_Params>(
        CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_.get();
    params.configSize = config_.image().size();
    params.pConfig = config_.image().data();
    params.counterDataImageSize = counter_data_.size();
    params.pCounterDataImage = counter_data_.data();
    params.range = CUPTI_UserRange;
    // Kernel replay is not allowed with user ranges, and takes 41 ms a launch (H200) where ours
    // takes 2: the sweep is repeated by us instead.
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = ranges;
    params.numNestingLevels = 1;  // each further level multiplies the passes
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 1;
    check_cupti(api_.range_set_config(&params),
                fmt::format("set up {} metrics for {} points", config_.metrics().size(), ranges));
}

void RangeSession::start() {
    auto params = cupti_params<CUpti_RangeProfiler_Start_Params>(
        CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_start(&params), "start counting");
    is_started_ = true;
}

void RangeSession::push(const std::string& name) {
    auto params = cupti_params<CUpti_RangeProfiler_PushRange_Params>(
        CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_.get();
    params.pRangeName = name.c_str();
    check_cupti(api_.range_push(&params), "begin to count a point");
    is_range_open_ = true;
}

void RangeSession::pop() {
    is_range_open_ = false;
    auto params = cupti_params<CUpti_RangeProfiler_PopRange_Params>(
        CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_pop(&params), "finish counting a point");
}

bool RangeSession::stop() {
    is_started_ = false;
    auto params =
        cupti_params<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_stop(&params), "stop counting");
    return params.isAllPassSubmitted != 0;
}

bool RangeSession::abandon() noexcept {
    try {
        if (is_range_open_) pop();
    } catch (const CountersError&) {
        // Stop is tried all the same: it also ends what is still open.
    }
    try {
        return is_started_ && stop();
    } catch (const CountersError&) {
        return false;
    }
}

std::size_t RangeSession::decode() {
    auto params = cupti_params<CUpti_RangeProfiler_DecodeData_Params>(
        CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_decode(&params), "fetch the counters");
    return params.numOfRangeDropped;
}

std::vector<CollectedRange> RangeSession::ranges() const {
    auto info = cupti_params<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
        CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
    info.pCounterDataImage = counter_data_.data();
    info.counterDataImageSize = counter_data_.size();
    check_cupti(api_.range_get_counter_data_info(&info), "read the counters");

    std::vector<CollectedRange> found;
    for (std::size_t index = 0; index < info.numTotalRanges; ++index) {
        auto range = cupti_params<CUpti_RangeProfiler_CounterData_GetRangeInfo_Params>(
            CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE);
        range.pCounterDataImage = counter_data_.data();
        range.counterDataImageSize = counter_data_.size();
        range.rangeIndex = index;
        range.rangeDelimiter = "/";
        if (api_.range_get_range_info(&range) == CUPTI_SUCCESS && range.rangeName != nullptr)
            found.push_back({index, range.rangeName});
    }
    return found;
}

}  // namespace coalprof
