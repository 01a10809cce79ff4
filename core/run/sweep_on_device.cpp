#include "core/run/sweep_on_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/model/predict.h"
#include "core/pattern/memory_settings.h"
#include "core/run/agreement.h"
#include "core/run/stop.h"

namespace coalprof {
namespace {

// Points whose counters are read in one session: enough to spread the cost of a session (0.3 s on
// an H200) thin, few enough that an interrupted sweep has delivered what came before.
constexpr std::size_t session_points = 256;
// And so much timing that nobody waits long for finished points.
constexpr std::chrono::seconds session_time{2};

constexpr std::string_view interrupted = "interrupted before its counters were read";

// Where points of a sweep take different paths, each is asked for the counters of all: those of
// loads that it does not make are not its own.
bool concerns(Counter counter, const Program& program) {
    const bool is_of_textures = counter == Counter::texture_requests ||
                                counter == Counter::texture_sectors ||
                                counter == Counter::texture_hit_sectors;
    const bool is_of_loads =
        counter == Counter::l1_hit_sectors ||
        static_cast<std::size_t>(counter) < access_field_count;  // those of AccessKind::load
    if (!is_of_textures && !is_of_loads) return true;
    return std::any_of(program.instructions.begin(), program.instructions.end(),
                       [&](const Instruction& one) {
                           return one.space == Space::global && one.kind == AccessKind::load &&
                                  (one.path == LoadPath::tex) == is_of_textures;
                       });
}

// What the collector counts at a time: a point's launch, or what it counts besides its accesses.
struct Range {
    std::size_t point = 0;
    bool is_overhead = false;
};

// Constant memory holds the parameters of kernels too: loads of them are to be taken off.
bool counts_constants(const Program& program, const std::vector<Counter>& wanted) {
    return std::any_of(program.instructions.begin(), program.instructions.end(),
                       [](const Instruction& one) { return one.space == Space::constant; }) &&
           std::find(wanted.begin(), wanted.end(), Counter::constant_requests) != wanted.end();
}

void take_off(const Readings& overhead, Readings& measured) {
    Reading& all = measured[Counter::constant_requests];
    const Reading& besides = overhead[Counter::constant_requests];
    if (!is_number(all)) return;
    if (!is_number(besides))
        all = besides;
    else if (number_in(besides) > number_in(all))
        all = Unavailable{"the kernel counts less with its accesses than without them"};
    else
        all = static_cast<std::uint64_t>(number_in(all) - number_in(besides));
}

void merge(const Readings& from, const Program& program, Readings& into) {
    from.each([&](Counter counter, const Reading& reading) {
        if (concerns(counter, program)) into[counter] = reading;
    });
}

}  // namespace

SweepOnDevice::SweepOnDevice(const DeviceSweep& sweep, bool is_one_of_several, SettingsJudge& judge,
                             ResultSink& sink)
    : planned_(sweep.points),
      run_(sweep.run),
      is_one_of_several_(is_one_of_several),
      judge_(judge),
      sink_(sink) {}

NamedValues SweepOnDevice::prepare() {
    NamedValues device = describe_device(run_.launcher.device());
    try {
        if (run_.collector && !run_.wanted.empty()) passes_ = run_.collector->passes(run_.wanted);
    } catch (const CountersError& error) {  // time and prediction can still be had
        run_.collector = nullptr;
        run_.no_counters = error.what();
    }
    if ((!run_.collector || run_.wanted.empty()) && !run_.no_counters.empty())
        warn_of_run("W-NO-COUNTERS", run_.no_counters);
    const bool compares_time = run_.repeats > 0 && !planned_.empty() && stop_signal() == 0 &&
                               touches_global_memory(planned_.front().plan.program);
    activate();
    if (compares_time && lost_.empty()) measure_ceilings();
    add_ceilings(device, ceilings_);
    return device;
}

void SweepOnDevice::measure_ceilings() {
    try {
        ceilings_ = coalprof::measure_ceilings(run_.launcher);
        if (const auto* none = std::get_if<Unavailable>(&ceilings_.read))
            warn_of_run("W-NO-CEILINGS", none->reason);
    } catch (const DeviceLostError& error) {
        lost_ = fmt::format("the GPU was lost while its ceilings were measured: {}", error.what());
    }
}

// A GPU that is alone is the thread's own from the start.
void SweepOnDevice::activate() {
    if (!is_one_of_several_ || !lost_.empty()) return;
    try {
        run_.launcher.activate();
    } catch (const Error& error) {
        lost_ = error.what();
    }
}

void SweepOnDevice::run() {
    activate();
    std::span<const PlannedPoint> left = planned_;
    while (!left.empty() && stop_signal() == 0)
        left = left.subspan(run_session(left.first(std::min(session_points, left.size()))));
}

std::size_t SweepOnDevice::run_session(std::span<const PlannedPoint> planned) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Point> points;
    std::vector<std::shared_future<void>> checks(planned.size());
    for (const PlannedPoint& plan : planned) {
        if (stop_signal() != 0) break;
        if (!points.empty() && std::chrono::steady_clock::now() - start > session_time) break;
        try {
            points.push_back(timed_point(plan, checks[points.size()]));
        } catch (const Stopped&) {  // while it was predicted
            break;
        }
    }
    for (std::size_t i = 0; i < points.size(); ++i) await_check(checks[i], points[i]);
    read_counters(planned.first(points.size()), points);
    for (std::size_t i = 0; i < points.size(); ++i) deliver(planned[i], points[i]);
    return points.size();
}

Status SweepOnDevice::status() const {
    if (stop_signal() != 0) return Status::interrupted;
    return some_failed_ ? Status::partial : Status::complete;
}

void SweepOnDevice::warn(std::string code, std::string point, std::string text) {
    warnings_.push_back({std::move(code), std::move(point), std::move(text)});
}

void SweepOnDevice::warn_of_run(std::string code, std::string_view text) {
    warn(std::move(code), {},
         is_one_of_several_ ? fmt::format("device {}: {}", run_.launcher.device().index, text)
                            : std::string(text));
}

Point SweepOnDevice::timed_point(const PlannedPoint& planned, std::shared_future<void>& check) {
    Point point;
    point.name = planned.name;
    point.parameters = planned.parameters;
    Placement placement;
    if (lost_.empty()) {
        try {
            const auto launch = run_.launcher.prepare(planned.plan);
            placement = launch->placement();
            if (run_.repeats > 0)
                point.timing = launch->time(run_.repeats, run_.cache);
            else
                launch->launch();
            check = launch->begin_verify();
            Readings& measured = point.measured.emplace();
            measured[Counter::useful_bytes] = planned.plan.program.useful_bytes;
            if (point.timing) measured[Counter::duration_seconds] = point.timing->median_seconds;
        } catch (const DeviceLostError& error) {
            fail(point, error.what());
            lost_ = fmt::format("the GPU was lost at {}: {}", point.name, error.what());
        } catch (const Error& error) {  // a kernel that cannot be compiled among them
            fail(point, error.what());
        }
    } else {
        fail(point, lost_);
    }
    point.predicted = Predictor(planned.machine).predict_launch(planned.plan, placement);
    return point;
}

// A point with wrong data has no measurement.
void SweepOnDevice::await_check(const std::shared_future<void>& check, Point& point) {
    if (!check.valid()) return;
    try {
        check.get();
    } catch (const Error& error) {
        fail(point, error.what());
        point.measured.reset();
    }
}

void SweepOnDevice::read_counters(std::span<const PlannedPoint> planned,
                                  std::vector<Point>& points) {
    if (run_.wanted.empty()) return;
    std::string reason = !run_.collector      ? run_.no_counters
                         : !lost_.empty()     ? lost_
                         : stop_signal() != 0 ? std::string(interrupted)
                                              : "";
    if (reason.empty()) reason = collect(planned, points);
    if (reason.empty()) return;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (points[i].measured) set_missing(planned[i].plan.program, *points[i].measured, reason);
}

// Work on one point for the collector, which knows of two failures: the point's, and the
// GPU's. It ends its session after the latter and does not throw it on.
template <typename Work>
void SweepOnDevice::attempt(const std::string& point, Work work) {
    try {
        work();
    } catch (const DeviceLostError& error) {
        lost_ = fmt::format("the GPU was lost while counting {}: {}", point, error.what());
        throw;
    } catch (const Error& error) {
        throw PointError(error.what(), error.code());
    }
}

// Reads the counters of the points that could be timed; answers why it could not.
std::string SweepOnDevice::collect(std::span<const PlannedPoint> planned,
                                   std::vector<Point>& points) {
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!points[i].measured) continue;
        ranges.push_back({.point = i});
        if (counts_constants(planned[i].plan.program, run_.wanted))
            ranges.push_back({.point = i, .is_overhead = true});
    }
    if (ranges.empty()) return {};
    std::unique_ptr<PreparedLaunch> launch;
    const auto before = [&](std::size_t range) {
        if (stop_signal() != 0) throw PointError(std::string(interrupted));
        const PlannedPoint& point = planned[ranges[range].point];
        attempt(point.name, [&] {
            launch.reset();  // its memory serves the next
            launch = run_.launcher.prepare(point.plan);
            if (run_.cache == CacheState::cold)
                run_.launcher.flush_cache();
            else
                launch->launch();
        });
    };
    const auto work = [&](std::size_t range) {
        attempt(planned[ranges[range].point].name, [&] {
            ranges[range].is_overhead ? launch->launch_without_constants() : launch->launch();
        });
    };
    try {
        const auto readings = run_.collector->collect(run_.wanted, ranges.size(), before, work);
        for (std::size_t i = 0; i < readings.size(); ++i) {
            const Range& range = ranges[i];
            Readings& measured = *points[range.point].measured;
            if (range.is_overhead)
                take_off(readings[i], measured);
            else
                merge(readings[i], planned[range.point].plan.program, measured);
        }
        if (!lost_.empty()) run_failed(lost_);
        return {};
    } catch (const CountersError& error) {
        run_failed(error.what());
        return error.what();
    } catch (const DeviceLostError& error) {
        lost_ = error.what();
        run_failed(lost_);
        return lost_;
    }
}

void SweepOnDevice::set_missing(const Program& program, Readings& measured,
                                const std::string& reason) const {
    for (const Counter counter : run_.wanted)
        if (!is_present(measured[counter]) && concerns(counter, program))
            measured[counter] = Unavailable{keep_reason(reason)};
}

void SweepOnDevice::run_failed(const std::string& reason) {
    if (!counters_failed_) warn_of_run("W-NO-COUNTERS", reason);
    counters_failed_ = true;
}

void SweepOnDevice::fail(Point& point, const std::string& reason) {
    point.failure = reason;
    some_failed_ = true;
}

void SweepOnDevice::deliver(const PlannedPoint& planned, Point& point) {
    if (point.measured) {
        Readings& measured = *point.measured;
        derive_ratios(measured);
        measured[Counter::bandwidth_share] = bandwidth_share(
            ceilings_, planned.plan.program, measured[Counter::bandwidth_bytes_per_second]);
        for (const Disagreement& found : compare(point.predicted, *point.measured).disagreements)
            warn("W-MISMATCH", point.name, describe(found));
    }
    judge_.add(planned, point);
    sink_.point(point);
}

}  // namespace coalprof
