#include "core/run/device_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "core/model/predict.h"
#include "core/run/agreement.h"
#include "core/run/stop.h"

namespace coalprof {
namespace {

// Points whose counters are read in one session: enough to spread the cost of a session (0.1 s on
// an H200) thin, few enough that an interrupted sweep has delivered what came before.
constexpr std::size_t session_points = 256;

constexpr std::string_view interrupted = "interrupted before its counters were read";

// What can still be done is done: after a failed point the next one, without counters the times,
// without a GPU the prediction.
class SweepOnDevice {
 public:
    SweepOnDevice(const DeviceRun& run, ResultSink& sink) : run_(run), sink_(sink) {}

    void run_session(std::span<const PlannedPoint> planned) {
        std::vector<Point> points;
        for (const PlannedPoint& plan : planned) {
            if (stop_signal() != 0) break;
            try {
                points.push_back(timed_point(plan));
            } catch (const Stopped&) {  // while it was predicted
                break;
            }
        }
        read_counters(planned.first(points.size()), points);
        for (Point& point : points) deliver(point);
    }

    Status status() const {
        if (stop_signal() != 0) return Status::interrupted;
        return some_failed_ ? Status::partial : Status::complete;
    }
    ResultTail tail() && { return {status(), std::move(warnings_)}; }
    void warn(std::string code, std::string point, std::string text) {
        warnings_.push_back({std::move(code), std::move(point), std::move(text)});
    }

 private:
    Point timed_point(const PlannedPoint& planned) {
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
                launch->verify();
                Readings& measured = point.measured.emplace();
                measured[Counter::useful_bytes] = planned.plan.program.useful_bytes;
                if (point.timing)
                    measured[Counter::duration_seconds] = point.timing->median_seconds;
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

    void read_counters(std::span<const PlannedPoint> planned, std::vector<Point>& points) {
        if (run_.wanted.empty()) return;
        std::string reason = !run_.collector      ? run_.no_counters
                             : !lost_.empty()     ? lost_
                             : stop_signal() != 0 ? std::string(interrupted)
                                                  : "";
        if (reason.empty()) reason = collect(planned, points);
        if (reason.empty()) return;
        for (Point& point : points)
            if (point.measured) set_missing(*point.measured, reason);
    }

    // Reads the counters of the points that could be timed; answers why it could not.
    std::string collect(std::span<const PlannedPoint> planned, std::vector<Point>& points) {
        std::vector<Range> ranges;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (!points[i].measured) continue;
            ranges.push_back({.point = i});
            if (counts_constants(planned[i])) ranges.push_back({.point = i, .is_overhead = true});
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
                Readings& measured = *points[ranges[i].point].measured;
                if (ranges[i].is_overhead)
                    take_off(readings[i], measured);
                else
                    merge(readings[i], measured);
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

    // What the collector counts at a time: a point's launch, or what it counts besides its
    // accesses.
    struct Range {
        std::size_t point = 0;
        bool is_overhead = false;
    };

    // Constant memory holds the parameters of kernels too: loads of them are to be taken off.
    bool counts_constants(const PlannedPoint& planned) const {
        const auto& instructions = planned.plan.program.instructions;
        const bool reads_constants =
            std::any_of(instructions.begin(), instructions.end(),
                        [](const Instruction& one) { return one.space == Space::constant; });
        return reads_constants && std::find(run_.wanted.begin(), run_.wanted.end(),
                                            Counter::constant_requests) != run_.wanted.end();
    }

    static void take_off(const Readings& overhead, Readings& measured) {
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

    // Work on one point for the collector, which knows of two failures: the point's, and the
    // GPU's. It ends its session after the latter and does not throw it on.
    template <typename Work>
    void attempt(const std::string& point, Work work) {
        try {
            work();
        } catch (const DeviceLostError& error) {
            lost_ = fmt::format("the GPU was lost while counting {}: {}", point, error.what());
            throw;
        } catch (const Error& error) {
            throw PointError(error.what(), error.code());
        }
    }

    static void merge(const Readings& from, Readings& into) {
        from.each([&](Counter counter, const Reading& reading) { into[counter] = reading; });
    }

    void set_missing(Readings& measured, const std::string& reason) const {
        for (const Counter counter : run_.wanted)
            if (!is_present(measured[counter]))
                measured[counter] = Unavailable{keep_reason(reason)};
    }

    void run_failed(const std::string& reason) {
        if (!counters_failed_) warn("W-NO-COUNTERS", {}, reason);
        counters_failed_ = true;
    }

    void fail(Point& point, const std::string& reason) {
        point.failure = reason;
        some_failed_ = true;
    }

    void deliver(Point& point) {
        if (point.measured) {
            derive_ratios(*point.measured);
            for (const Disagreement& found :
                 compare(point.predicted, *point.measured).disagreements)
                warn("W-MISMATCH", point.name, describe(found));
        }
        sink_.point(point);
    }

    const DeviceRun& run_;
    ResultSink& sink_;
    std::string lost_;  // why nothing more can be measured; empty: it can
    bool some_failed_ = false;
    bool counters_failed_ = false;
    std::vector<Warning> warnings_;
};

}  // namespace

NamedValues describe_device(const DeviceFacts& facts) {
    const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    return {
        {"index", std::int64_t{facts.index}},
        {"name", facts.name},
        {"uuid", facts.uuid},
        {"pci_bus_id", facts.pci_bus_id},
        {"compute_capability", fmt::format("{}.{}", facts.major, facts.minor)},
        {"multiprocessors", std::int64_t{facts.multiprocessors}},
        {"l2_bytes", integer(facts.l2_bytes)},
        {"memory_bytes", integer(facts.memory_bytes)},
        {"clock_hz", integer(facts.clock_hz)},
        {"memory_clock_hz", integer(facts.memory_clock_hz)},
        {"memory_bus_bits", std::int64_t{facts.memory_bus_bits}},
        {"ecc", facts.ecc},
        {"driver_version", std::int64_t{facts.driver_version}},
        {"nvrtc_version", std::int64_t{facts.nvrtc_version}},
    };
}

ExitCode run_sweep_on_device(const std::vector<PlannedPoint>& points, ResultHead head,
                             const DeviceRun& run, ResultSink& sink) {
    head.backend = "device";
    head.device = describe_device(run.launcher.device());
    DeviceRun usable = run;
    try {
        if (usable.collector && !usable.wanted.empty())
            head.passes = usable.collector->passes(usable.wanted);
    } catch (const CountersError& error) {  // time and prediction can still be had
        usable.collector = nullptr;
        usable.no_counters = error.what();
    }
    SweepOnDevice sweep(usable, sink);
    if ((!usable.collector || usable.wanted.empty()) && !usable.no_counters.empty())
        sweep.warn("W-NO-COUNTERS", {}, usable.no_counters);
    sink.begin(head);
    for (std::size_t begin = 0; begin < points.size() && stop_signal() == 0;
         begin += session_points) {
        const std::size_t count = std::min(session_points, points.size() - begin);
        sweep.run_session(std::span(points).subspan(begin, count));
    }
    const Status status = sweep.status();
    sink.finish(std::move(sweep).tail());
    return exit_code_of(status);
}

}  // namespace coalprof
