#include "cupti/collector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include "core/result/reading.h"
#include "cupti/cupti_api.h"
#include "cupti/driver.h"
#include "cupti/range_session.h"

namespace coalprof {
namespace {

struct Obstacle {
    CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*level;
    std::string_view sentence;
};

// The reasons for which CUPTI refuses a device before anything is tried.
constexpr std::array obstacles{
    Obstacle{&CUpti_Profiler_DeviceSupported_Params::architecture,
             "counters need a GPU of compute capability 7.5 or higher"},
    Obstacle{&CUpti_Profiler_DeviceSupported_Params::vGpu,
             "this virtual GPU does not allow profiling: the host's administrator switches it on "
             "with the vGPU plugin parameter enable_profiling"},
    Obstacle{&CUpti_Profiler_DeviceSupported_Params::confidentialCompute,
             "the GPU runs in confidential-computing mode, which has no counters"},
    Obstacle{&CUpti_Profiler_DeviceSupported_Params::cmp,
             "this is a crypto-mining processor, which has no counters"},
    Obstacle{&CUpti_Profiler_DeviceSupported_Params::sli,
             "the GPU is part of an SLI group: switch SLI off"},
    Obstacle{&CUpti_Profiler_DeviceSupported_Params::wsl,
             "this version of WSL has no counters: use WSL 2 on Windows 11 with driver 525 or "
             "newer"},
};

bool is_refused(CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
}

void check_supported(const CuptiApi& api, CUdevice device) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params);
    params.cuDevice = device;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    check_cupti(api.profiler_device_supported(&params), "ask whether the GPU can be profiled");
    for (const Obstacle& obstacle : obstacles)
        if (is_refused(params.*obstacle.level))
            throw CountersError(fmt::format("cannot read counters: {}", obstacle.sentence));
    if (is_refused(params.isSupported))
        throw CountersError(
            "cannot read counters: CUPTI does not support this GPU and gives no "
            "reason. `coalprof doctor` shows what is known.");
}

}  // namespace

std::string chip_of_device(const CuptiApi& api, int device_index) {
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
    params.deviceIndex = static_cast<std::size_t>(device_index);
    check_cupti(api.device_get_chip_name(&params), "ask for the name of the GPU's chip");
    if (params.pChipName == nullptr)
        throw CountersError("cannot read counters: CUPTI has no name for the GPU's chip");
    return params.pChipName;
}

namespace {

// A count of CUPTI as a reading. NaN means that this GPU could not count the metric.
Reading reading_of(const CounterInfo& counter, double value, std::string_view metric) {
    if (!std::isfinite(value) || value < 0)
        return Unavailable{
            keep_reason(fmt::format("the GPU gave no value for {} (on a MIG instance, counters of "
                                    "shared units are missing)",
                                    metric))};
    if (counter.is_integer) return static_cast<std::uint64_t>(std::llround(value));
    return value;
}

// Fills the readings of one point from the values of both sessions.
class PointReader {
 public:
    PointReader(const MetricPlan& plan, const SweepValues& hardware,
                const SweepValues& instrumented)
        : plan_(plan), hardware_(hardware), instrumented_(instrumented) {}

    Readings read(std::size_t point) const {
        Readings readings;
        for (const MetricPlan::Source& source : plan_.sources)
            readings[source.counter] = read_source(source, point);
        for (const auto& [counter, reason] : plan_.unavailable) readings[counter] = reason;
        derive_ratios(readings);
        return readings;
    }

 private:
    Reading read_source(const MetricPlan::Source& source, std::size_t point) const {
        const SweepValues& session = source.is_instrumented ? instrumented_ : hardware_;
        const PointValues& outcome = session.points[point];
        if (outcome.values.empty()) return Unavailable{outcome.failure};
        for (const std::size_t other : source.must_be_zero)
            if (outcome.values[other] != 0)
                return Unavailable{
                    "this GPU counts the data stage for all accesses together, and the launch made "
                    "others too"};
        double value = outcome.values[source.metric];
        if (source.waiting) {
            const PointValues& without = instrumented_.points[point];
            if (without.values.empty()) return Unavailable{without.failure};
            value -= waiting_of(outcome.values[source.waiting->with],
                                outcome.values[source.waiting->conflicts],
                                without.values[source.waiting->without]);
        }
        const auto& names = source.is_instrumented ? plan_.instrumented : plan_.hardware;
        return reading_of(info(source.counter), value, names[source.metric]);
    }

    // The hardware counts all passes that it makes, and those that waited among its conflicts.
    // Where the difference is none of these, instrumented code is wrong: it judges groups of lanes
    // of wide loads separately where the hardware judges the warp. On an H100 the two differed in
    // 100 of 16,000 random launches; wherever all three counts were printed, the hardware's was the
    // model's (2026-11-22, docs/measurements/h100/grids.txt).
    static double waiting_of(double passes, double conflicts, double without_waiting) {
        const double waiting = passes - without_waiting;
        return waiting < 0 || waiting > conflicts ? 0 : waiting;
    }

    const MetricPlan& plan_;
    const SweepValues& hardware_;
    const SweepValues& instrumented_;
};

void keep_only(std::span<const Counter> wanted, Readings& readings) {
    Readings kept;
    for (const Counter counter : wanted) kept[counter] = readings[counter];
    readings = kept;
}

// Points that failed in one session are not tried in the next; after one that ended early, none
// are.
SweepValues with_failures_of(const SweepValues& earlier) {
    SweepValues later;
    later.ended_because = earlier.ended_because;
    later.device_lost = earlier.device_lost;
    for (const PointValues& point : earlier.points)
        later.points.push_back(
            {.values = {},
             .failure = point.failure.empty() ? earlier.ended_because : point.failure});
    return later;
}

bool nothing_could_be_read(const SweepValues& values) {
    return !values.ended_because.empty() && !values.device_lost && !values.has_values();
}

struct ProfilerUsers {
    std::mutex mutex;
    std::map<const CuptiApi*, std::size_t> of;
};

// Never destroyed: profilers of a counted program stop in its exit handler.
ProfilerUsers& profiler_users() {
    static auto& users = *new ProfilerUsers;
    return users;
}

}  // namespace

StartedProfiler::StartedProfiler(const CuptiApi& api) : api_(api) {
    const std::lock_guard lock(profiler_users().mutex);
    std::size_t& users = profiler_users().of[&api];
    if (users == 0) {
        auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
        check_cupti(api.profiler_initialize(&params), "start CUPTI's profiler");
    }
    ++users;
}

StartedProfiler::~StartedProfiler() {
    const std::lock_guard lock(profiler_users().mutex);
    if (--profiler_users().of[&api_] != 0) return;
    auto params = COALPROF_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params);
    api_.profiler_deinitialize(&params);  // at the end a failure changes nothing
}

CuptiCollector::CuptiCollector(const CuptiApi& api, const CounterDriver& driver,
                               const CollectorOptions& options)
    : api_(api), driver_(driver), options_(options) {
    const CUdevice device = open_device(driver_, options_.device);
    profiler_.emplace(api_);
    check_supported(api_, device);
    metrics_.emplace(api_, chip_of_device(api_, options_.device));
}

CuptiCollector::~CuptiCollector() {
    metrics_.reset();
    profiler_.reset();
}

MetricPlan CuptiCollector::plan(std::span<const Counter> wanted) const {
    return plan_metrics(
        wanted, chip(), [this](std::string_view metric) { return metrics_->has(metric); },
        options_.of_lone_warps);
}

std::uint64_t CuptiCollector::passes(std::span<const Counter> wanted) {
    const MetricPlan needed = plan(wanted);
    std::uint64_t passes = 0;
    if (!needed.hardware.empty()) passes += MetricConfig(api_, chip(), needed.hardware).passes();
    if (!needed.instrumented.empty())
        passes += MetricConfig(api_, chip(), needed.instrumented).passes();
    return passes;
}

void CuptiCollector::collect_set(const std::vector<std::string>& metrics, const CountedSweep& sweep,
                                 SweepValues& values) {
    try {
        const MetricConfig config(api_, chip(), metrics);
        const RangeCollection collection{
            .api = api_,
            .context = current_context(driver_),
            .config = config,
            .ranges_per_session = std::max<std::size_t>(1, options_.points_per_session)};
        collect_ranges(collection, sweep, values);
    } catch (const CountersError& error) {
        values.ended_because = keep_reason(error.what());
        values.points.resize(sweep.points);
        for (PointValues& point : values.points)
            if (point.failure.empty()) point.failure = values.ended_because;
    }
}

std::vector<Readings> CuptiCollector::collect(std::span<const Counter> wanted, std::size_t points,
                                              const std::function<void(std::size_t)>& before,
                                              const std::function<void(std::size_t)>& work) {
    if (points == 0) return {};
    const MetricPlan needed = plan(wanted);
    const CountedSweep sweep{points, before, work};
    SweepValues hardware;
    hardware.points.resize(points);
    if (!needed.hardware.empty()) collect_set(needed.hardware, sweep, hardware);
    SweepValues instrumented = with_failures_of(hardware);
    if (!needed.instrumented.empty() && hardware.ended_because.empty())
        collect_set(needed.instrumented, sweep, instrumented);

    if (nothing_could_be_read(instrumented) && !hardware.has_values())
        throw CountersError(std::string(instrumented.ended_because));

    const PointReader reader(needed, hardware, instrumented);
    std::vector<Readings> all;
    for (std::size_t point = 0; point < points; ++point) {
        all.push_back(reader.read(point));
        keep_only(wanted, all.back());
    }
    return all;
}

std::vector<PointValues> CuptiCollector::collect_metrics(
    const std::vector<std::string>& metrics, std::size_t points,
    const std::function<void(std::size_t)>& before, const std::function<void(std::size_t)>& work) {
    SweepValues values;
    collect_set(metrics, {points, before, work}, values);
    if (nothing_could_be_read(values)) throw CountersError(std::string(values.ended_because));
    return std::move(values.points);
}

void load_cupti_early() noexcept {
    try {
        loaded_cupti();
    } catch (const std::exception&) {
        // make_collector() will fail in the same way and report it.
    }
}

std::unique_ptr<CuptiCollector> make_collector(const CollectorOptions& options) {
    const CounterDriver& driver = counter_driver();
    return make_collector(driver, loaded_cupti(), options);
}

std::unique_ptr<CuptiCollector> make_collector(const CounterDriver& driver,
                                               const LoadedCupti& cupti,
                                               const CollectorOptions& options) {
    const std::vector<std::string> missing = missing_target_calls(cupti.api);
    if (!missing.empty())
        throw CountersError(fmt::format(
            "cannot read counters: {} has no {}. CUDA 12.6 Update 2 or newer is needed; "
            "COALPROF_CUPTI may name its libcupti.",
            cupti.path, fmt::join(missing, ", ")));
    return std::make_unique<CuptiCollector>(cupti.api, driver, options);
}

}  // namespace coalprof
