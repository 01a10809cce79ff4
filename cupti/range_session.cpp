#include "cupti/range_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/device/device.h"
#include "core/result/reading.h"

namespace coalprof {

EnabledProfiler::EnabledProfiler(const CuptiApi& api, CUcontext context) : api_(api) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    params.ctx = context;
    check_cupti(api_.range_enable(&params), "switch the GPU's counters on");
    object_ = params.pRangeProfilerObject;
}

EnabledProfiler::~EnabledProfiler() {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = object_;
    api_.range_disable(&params);  // the values are known already; a failure here changes none
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
    auto size = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
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
    auto image = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    image.pRangeProfilerObject = profiler_.get();
    image.counterDataSize = counter_data_.size();
    image.pCounterData = counter_data_.data();
    check_cupti(api_.range_image_initialize(&image), "make room for counters");
}

void RangeSession::set_config(std::size_t ranges) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    params.pRangeProfilerObject = profiler_.get();
    params.configSize = config_.image().size();
    params.pConfig = config_.image().data();
    params.counterDataImageSize = counter_data_.size();
    params.pCounterDataImage = counter_data_.data();
    params.range = CUPTI_UserRange;
    // Kernel replay is not allowed with user ranges, and takes 41 ms a launch (H200) where ours
    // takes 2: we repeat the sweep instead.
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
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_start(&params), "start counting");
    is_started_ = true;
}

void RangeSession::push(const std::string& name) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params);
    params.pRangeProfilerObject = profiler_.get();
    params.pRangeName = name.c_str();
    check_cupti(api_.range_push(&params), "begin to count a point");
    is_range_open_ = true;
}

void RangeSession::pop() {
    is_range_open_ = false;
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_pop(&params), "finish counting a point");
}

bool RangeSession::stop() {
    is_started_ = false;
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_stop(&params), "stop counting");
    return params.isAllPassSubmitted != 0;
}

bool RangeSession::abandon() noexcept {
    try {
        if (is_range_open_) pop();
    } catch (const CountersError&) {
        // Stop is tried all the same: it also ends open ranges and passes.
    }
    try {
        return is_started_ && stop();
    } catch (const CountersError&) {
        return false;
    }
}

std::size_t RangeSession::decode() {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    params.pRangeProfilerObject = profiler_.get();
    check_cupti(api_.range_decode(&params), "fetch the counters");
    return params.numOfRangeDropped;
}

std::vector<CollectedRange> RangeSession::ranges() const {
    auto info = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    info.pCounterDataImage = counter_data_.data();
    info.counterDataImageSize = counter_data_.size();
    check_cupti(api_.range_get_counter_data_info(&info), "read the counters");

    std::vector<CollectedRange> found;
    for (std::size_t index = 0; index < info.numTotalRanges; ++index) {
        auto range = COALPROF_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
        range.pCounterDataImage = counter_data_.data();
        range.counterDataImageSize = counter_data_.size();
        range.rangeIndex = index;
        range.rangeDelimiter = "/";
        if (api_.range_get_range_info(&range) == CUPTI_SUCCESS && range.rangeName != nullptr)
            found.push_back({index, range.rangeName});
    }
    return found;
}

namespace {

std::optional<std::size_t> point_of_range(std::string_view name) {
    std::size_t point = 0;
    if (!name.starts_with('p')) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), point);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return point;
}

// The points [first, first + count) of a sweep, in one session.
class Chunk {
 public:
    Chunk(const RangeCollection& collection, const CountedSweep& sweep, std::size_t first,
          std::size_t count, SweepValues& values)
        : collection_(collection), sweep_(sweep), first_(first), count_(count), values_(values) {}

    void run() {
        try {
            session_.emplace(collection_.api, collection_.context, collection_.config, count_);
            count_all_passes();
            if (finished_ > 0) read_values();
        } catch (const CountersError& error) {
            end_early(error);
        }
        explain_missing();
    }

 private:
    // Afterwards finished_ points have been counted in every pass.
    void count_all_passes() {
        try {
            bool is_complete = false;
            for (std::size_t pass = 0; !is_complete; ++pass) {
                // CUPTI reports the last pass; this bound only prevents endless repetition after a
                // wrong answer.
                if (pass > collection_.config.passes())
                    throw CountersError(fmt::format(
                        "cannot count: CUPTI asks for more than the {} passes that it announced",
                        collection_.config.passes()));
                count_one_pass();
                is_complete = session_->stop();
            }
        } catch (const DeviceLostError& error) {
            end_early(error);
            values_.device_lost = true;
            keep_what_is_complete();
        } catch (const CountersError& error) {
            end_early(error);
            keep_what_is_complete();
        }
    }

    void count_one_pass() {
        finished_ = 0;
        session_->start();
        for (std::size_t point = first_; point < first_ + count_; ++point) {
            attempt(sweep_.before, point);
            // Failed points get a range, too: every pass must have the same ranges.
            session_->push(fmt::format("p{}", point));
            attempt(sweep_.work, point);
            session_->pop();
            ++finished_;
        }
    }

    void attempt(const std::function<void(std::size_t)>& call, std::size_t point) {
        PointValues& outcome = values_.points[point];
        if (!outcome.failure.empty()) return;
        try {
            call(point);
        } catch (const PointError& error) {
            outcome.failure = keep_reason(error.what());
        }
    }

    // The sweep ended early. Points are worth decoding only if this was the last pass.
    void keep_what_is_complete() {
        if (!session_->abandon()) finished_ = 0;
    }

    void read_values() {
        if (const std::size_t dropped = session_->decode(); dropped > 0)
            missing_ = keep_reason(
                fmt::format("CUPTI lost {} of {} points, this one among them", dropped, count_));
        for (const CollectedRange& range : session_->ranges()) evaluate(range);
    }

    void evaluate(const CollectedRange& range) {
        const auto point = point_of_range(range.name);
        if (!point || *point < first_ || *point >= first_ + finished_) return;
        PointValues& outcome = values_.points[*point];
        if (!outcome.failure.empty()) return;
        try {
            outcome.values = collection_.config.evaluate(session_->counter_data(), range.index);
        } catch (const CountersError& error) {
            outcome.failure = keep_reason(error.what());
        }
    }

    void end_early(const Error& error) {
        // The first reason explains the others.
        if (values_.ended_because.empty()) values_.ended_because = keep_reason(error.what());
    }

    void explain_missing() {
        for (std::size_t point = first_; point < first_ + count_; ++point) {
            PointValues& outcome = values_.points[point];
            if (outcome.values.empty() && outcome.failure.empty())
                outcome.failure = values_.ended_because.empty() ? missing_ : values_.ended_because;
        }
    }

    const RangeCollection& collection_;
    const CountedSweep& sweep_;
    std::size_t first_;
    std::size_t count_;
    SweepValues& values_;
    std::optional<RangeSession> session_;
    std::size_t finished_ = 0;  // points of this pass whose range was closed
    std::string_view missing_ = "CUPTI gave no range back for this point";
};

}  // namespace

bool SweepValues::has_values() const {
    return std::ranges::any_of(points, [](const auto& point) { return !point.values.empty(); });
}

void collect_ranges(const RangeCollection& collection, const CountedSweep& sweep,
                    SweepValues& values) {
    values.points.resize(sweep.points);
    for (std::size_t first = 0; first < sweep.points; first += collection.ranges_per_session) {
        const std::size_t count = std::min(collection.ranges_per_session, sweep.points - first);
        if (values.ended_because.empty()) {
            Chunk(collection, sweep, first, count, values).run();
            continue;
        }
        for (std::size_t point = first; point < first + count; ++point)
            if (values.points[point].failure.empty())
                values.points[point].failure = values.ended_because;
    }
}

}  // namespace coalprof
