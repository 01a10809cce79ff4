#include "cupti/attach/instruction_counter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "core/device/device.h"
#include "core/program/machine_code.h"
#include "cupti/host.h"

namespace coalprof {

void InstructionCounter::start_profiler() {
    const std::lock_guard lock(starting_);
    if (profiler_) return;
    try {
        profiler_.emplace(setup_.api());
    } catch (const CountersError&) {
        // Reported when it is tried again, at the launch.
    }
}

bool InstructionCounter::wants(const TracedKernel& kernel, CUcontext context) const {
    return !has_ended_ && kernel.name == setup_.kernel &&
           (!session_ || session_->context() == context);
}

bool InstructionCounter::begin(const TracedKernel& kernel, CUcontext context) {
    launching_ = kernel;
    if (session_) return true;
    try {
        const CuptiApi& api = setup_.api();
        {
            const std::lock_guard lock(starting_);
            if (!profiler_) profiler_.emplace(api);
        }
        session_.emplace(api, context, static_cast<std::uint32_t>(kernel.device),
                         machine_code_metrics(), sure_machine_code_metrics);
        if (!session_->shortage().empty())
            setup_.problem(fmt::format("of machine code only the first {} metrics were counted: {}",
                                       sure_machine_code_metrics, session_->shortage()));
        return true;
    } catch (const CountersError& error) {
        fail(error.what());
        return false;
    }
}

void InstructionCounter::end(bool was_launched) {
    if (!was_launched) return;
    ++launched_;
    ++launches_[launching_];
}

void InstructionCounter::fetch() {
    if (!session_) return;
    try {
        deliver();
        if (const std::size_t lost = session_->close(); lost > 0)
            setup_.problem(fmt::format("CUPTI lost {} counts of instructions", lost));
    } catch (const CountersError& error) {
        setup_.problem(error.what());
    }
    session_.reset();
    has_ended_ = true;
}

// CUPTI counts the function that is launched first, which another tool may have replaced.
void InstructionCounter::deliver() {
    for (const CountedInstruction& counted : session_->fetch()) {
        if (counted.function != setup_.kernel) {
            setup_.problem(fmt::format("CUPTI counted instructions of {} in place of {}",
                                       counted.function, setup_.kernel));
            return;
        }
        setup_.deliver({.function = counted.function,
                        .offset = counted.offset,
                        .source = cubins_.line_of(setup_.api(), counted.cubin_crc, counted.offset),
                        .counts = counted.counts});
    }
}

void InstructionCounter::abandon(const std::string& why) {
    session_->abandon();
    fail(why);
    launches_.clear();
}

void InstructionCounter::fail(const std::string& sentence) {
    session_.reset();
    has_ended_ = true;
    setup_.problem(sentence);
}

namespace {

constexpr std::uint64_t no_metric = std::numeric_limits<std::uint64_t>::max();

void refuse_older_cupti(const CuptiApi& api) {
    const std::vector<std::string> missing = missing_sass_calls(api);
    if (!missing.empty())
        throw CountersError(fmt::format(
            "cannot count instructions of machine code: this CUPTI lacks {}; it takes that of CUDA "
            "12.6 Update 2 or newer",
            fmt::join(missing, ", ")));
}

}  // namespace

SassSession::SassSession(const CuptiApi& api, CUcontext context, std::uint32_t device,
                         std::span<const std::string_view> metrics, std::size_t sure_metrics)
    : api_(api), context_(context), device_(device) {
    refuse_older_cupti(api_);
    metrics_ = find_metrics(metrics);
    try {
        begin(metrics_.size());
    } catch (const CountersError& error) {
        unset();
        if (metrics_.size() <= sure_metrics) throw;
        shortage_ = error.what();
        try {
            begin(sure_metrics);
        } catch (const CountersError&) {
            unset();
            throw CountersError(shortage_);  // the first error is the reason
        }
    }
}

SassSession::~SassSession() {
    try {
        close();
    } catch (const CountersError&) {
        // At the end a failure changes nothing.
    }
}

std::vector<SassSession::MetricId> SassSession::find_metrics(
    std::span<const std::string_view> metrics) {
    // The queries answer NOT_INITIALIZED until a call of the profiler's host has been made (13.0).
    supported_chips(api_);
    const std::string chip = chip_of_device(api_, static_cast<int>(device_));
    std::vector<MetricId> found;
    for (const std::string_view metric : metrics) {
        const std::string name(metric);
        auto params = COALPROF_CUPTI_PARAMS(CUpti_SassMetrics_GetProperties_Params);
        params.pChipName = chip.c_str();
        params.pMetricName = name.c_str();
        const int code = api_.sass_get_properties(&params);
        if (code == CUPTI_SUCCESS)
            found.emplace_back(params.metric.metricId, name);
        else if (found.empty())
            check_cupti(code, fmt::format("count {} of instructions of machine code", name));
    }
    return found;
}

void SassSession::begin(std::size_t count) {
    std::vector<CUpti_SassMetrics_Config> wanted;
    for (const auto& [id, name] : std::span(metrics_).first(count))
        wanted.push_back({id, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
    auto config = COALPROF_CUPTI_PARAMS(CUpti_SassMetricsSetConfig_Params);
    config.numOfMetricConfig = wanted.size();
    config.pConfigs = wanted.data();
    config.deviceIndex = device_;
    check_cupti(api_.sass_set_config(&config), "choose what to count of machine code");
    is_configured_ = true;
    auto enable = COALPROF_CUPTI_PARAMS(CUpti_SassMetricsEnable_Params);
    enable.ctx = context_;
    enable.enableLazyPatching = 1;  // patching all code at once is refused in PyTorch
    check_cupti(api_.sass_enable(&enable), "count instructions of machine code");
    is_enabled_ = true;
}

std::vector<CountedInstruction> SassSession::fetch() {
    auto size = COALPROF_CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties_Params);
    size.ctx = context_;
    check_cupti(api_.sass_get_data_properties(&size), "ask for the counts of instructions");
    const std::size_t records = size.numOfPatchedInstructionRecords;
    if (records == 0) return {};
    // A record has one metric's values (13.0); its header could mean all of them.
    const std::size_t room = std::max<std::size_t>(size.numOfInstances, 1) * metrics_.size();
    std::vector<CUpti_SassMetrics_InstanceValue> values(records * room, {no_metric, 0});
    std::vector<CUpti_SassMetrics_Data> data(records);
    for (std::size_t i = 0; i < records; ++i) {
        data[i].structSize = sizeof(CUpti_SassMetrics_Data);
        data[i].pInstanceValues = &values[i * room];
    }
    auto flush = COALPROF_CUPTI_PARAMS(CUpti_SassMetricsFlushData_Params);
    flush.ctx = context_;
    flush.numOfPatchedInstructionRecords = records;
    flush.numOfInstances = size.numOfInstances;
    flush.pMetricsData = data.data();
    check_cupti(api_.sass_flush_data(&flush), "fetch the counts of instructions");

    using Key = std::tuple<std::string, std::uint32_t, std::uint64_t>;
    std::map<Key, std::map<std::string, std::uint64_t>> found;
    for (CUpti_SassMetrics_Data& record : data) {
        auto& counts = found[{record.functionName ? record.functionName : "", record.cubinCrc,
                              record.pcOffset}];
        std::free(const_cast<char*>(record.functionName));  // malloc'd by CUPTI, for us
        for (const auto& value : std::span(record.pInstanceValues, room)) {
            const auto metric = std::ranges::find(metrics_, value.metricId, &MetricId::first);
            if (metric != metrics_.end()) counts[metric->second] += value.value;
        }
    }
    std::vector<CountedInstruction> all;
    for (auto& [key, counts] : found)
        if (std::ranges::any_of(counts, [](const auto& count) { return count.second > 0; }))
            all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), counts});
    return all;
}

std::size_t SassSession::close() {
    std::size_t lost = 0;
    if (std::exchange(is_enabled_, false)) {
        auto params = COALPROF_CUPTI_PARAMS(CUpti_SassMetricsDisable_Params);
        params.ctx = context_;
        const int code = api_.sass_disable(&params);
        unset();
        check_cupti(code, "stop counting instructions of machine code");
        lost = params.numOfDroppedRecords;
    }
    return lost;
}

void SassSession::unset() {
    if (!std::exchange(is_configured_, false)) return;
    auto params = COALPROF_CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig_Params);
    params.deviceIndex = device_;
    api_.sass_unset_config(&params);  // a failure changes nothing: there is no second session
}

}  // namespace coalprof
