#include "core/run/warps_device_run.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "core/model/launch_sum.h"
#include "core/model/predict.h"
#include "core/run/agreement.h"
#include "core/run/device_run.h"
#include "core/run/stop.h"
#include "core/run/warps_source.h"

namespace coalprof {
namespace {

// Lines measured together. A session costs about 0.25 s for each kind of instruction in the batch
// and 2 ms for each line (an H200, 2026-11-22), and takes a thousand lines: this many fill one for
// each of seven kinds nearly, and finished lines appear every 14 s (with basic counters).
constexpr std::size_t batch_lines = 6144;

// More warnings than this only say how many there were.
constexpr std::size_t most_warnings = 1000;

struct ReplayedWarp {
    WarpAccess access;
    Point point;
};

class Replay {
 public:
    Replay(const WarpsDeviceRun& run, const Machine& machine, ResultSink& sink)
        : run_(run), predictor_(machine), sink_(sink) {}

    // Predicts, measures and delivers a batch.
    void run_batch(std::vector<ReplayedWarp>& batch) {
        for (const Space space : {Space::global, Space::shared})
            for (const AccessKind kind : access_kinds) measure(batch, space, kind);
        for (ReplayedWarp& warp : batch) deliver(warp);
    }

    ResultTail tail(Status of_source) && {
        if (unsaid_warnings_ > 0)
            warnings_.push_back(
                {"W-MISMATCH", {}, fmt::format("{} more disagreements", unsaid_warnings_)});
        const Status status =
            of_source == Status::complete && some_failed_ ? Status::partial : of_source;
        return {status, std::move(warnings_)};
    }

 private:
    void measure(std::vector<ReplayedWarp>& batch, Space space, AccessKind kind) {
        std::vector<ReplayedWarp*> warps;
        for (ReplayedWarp& warp : batch)
            if (warp.access.space == space && warp.access.kind == kind) warps.push_back(&warp);
        if (warps.empty()) return;
        const std::vector<Counter> wanted = run_.wanted(kind, space);
        const std::string problem = lost_.empty() ? collect(warps, wanted) : lost_;
        if (problem.empty()) return;
        for (ReplayedWarp* warp : warps) {
            if (!warp->point.failure.empty()) continue;
            warp->point.measured.emplace();
            for (const Counter counter : wanted)
                (*warp->point.measured)[counter] = Unavailable{keep_reason(problem)};
        }
    }

    // Answers why the counters could not be read; empty: they were.
    std::string collect(const std::vector<ReplayedWarp*>& warps,
                        const std::vector<Counter>& wanted) {
        if (!run_.collector) return run_.no_counters;
        std::unique_ptr<PreparedLaunch> launch;
        const auto before = [&](std::size_t range) {
            if (stop_signal() != 0) throw PointError("interrupted before it was measured");
            launch.reset();
            ReplayedWarp& warp = *warps[range];
            try {
                launch = run_.launcher.prepare_warp(warp.access);
            } catch (const DeviceLostError& error) {
                lost_ = error.what();
                throw;
            } catch (const Error& error) {  // a kernel that cannot be compiled among them
                warp.point.failure = error.what();
                throw PointError(error.what(), error.code());
            }
            if (warp.access.space == Space::global && !launch->placement().base_addresses.empty())
                warp.access = shifted(warp.access, launch->placement().base_addresses.front());
        };
        const auto rewound = [&](std::size_t range) {
            // A second pass prepares the same warp again, from the addresses of the file.
            if (!original_.empty()) warps[range]->access = original_[range];
            before(range);
        };
        const auto counted = [&](std::size_t) {
            try {
                launch->launch();
            } catch (const DeviceLostError& error) {  // the collector does not throw it on
                lost_ = error.what();
                throw;
            }
        };
        original_.clear();
        for (const ReplayedWarp* warp : warps) original_.push_back(warp->access);
        try {
            auto readings = run_.collector->collect(wanted, warps.size(), rewound, counted);
            for (std::size_t i = 0; i < readings.size(); ++i)
                if (warps[i]->point.failure.empty()) warps[i]->point.measured = readings[i];
            return {};
        } catch (const CountersError& error) {
            return error.what();
        } catch (const DeviceLostError& error) {
            lost_ = error.what();
            return lost_;
        }
    }

    void deliver(ReplayedWarp& warp) {
        Point& point = warp.point;
        predictor_.predict_warp(warp.access, point.predicted);
        if (point.measured) {
            derive_ratios(*point.measured);
            for (const Disagreement& found :
                 compare(point.predicted, *point.measured).disagreements)
                warn({"W-MISMATCH", point.name, describe(found)});
        }
        some_failed_ = some_failed_ || !point.failure.empty();
        sink_.point(point);
    }

    void warn(Warning warning) {
        if (warnings_.size() < most_warnings)
            warnings_.push_back(std::move(warning));
        else
            ++unsaid_warnings_;
    }

    const WarpsDeviceRun& run_;
    Predictor predictor_;
    ResultSink& sink_;
    std::vector<WarpAccess> original_;
    std::string lost_;
    bool some_failed_ = false;
    std::vector<Warning> warnings_;
    std::uint64_t unsaid_warnings_ = 0;
};

}  // namespace

ExitCode run_warps_on_device(const std::string& file, const Machine& machine, ResultHead head,
                             const WarpsDeviceRun& run, ResultSink& sink) {
    WarpsSource source(file);
    head.backend = "device";
    head.device = describe_device(run.launcher.device());
    WarpsDeviceRun usable = run;
    try {
        if (run.collector)
            head.passes = run.collector->passes(run.wanted(AccessKind::load, Space::global));
    } catch (const CountersError& error) {  // the prediction can still be had
        usable.collector = nullptr;
        usable.no_counters = error.what();
    }
    std::vector<ReplayedWarp> batch;
    WarpLine line;
    bool more = source.next(line);  // a wrong first line leaves the outputs as they were
    sink.begin(head);
    Replay replay(usable, machine, sink);
    while (more) {
        batch.clear();
        for (; more && batch.size() < batch_lines; more = source.next(line)) {
            ReplayedWarp& warp = batch.emplace_back();
            warp.access = line.access;
            warp.point.name.assign(line.name);
        }
        replay.run_batch(batch);
    }
    ResultTail tail = std::move(replay).tail(source.status());
    sink.finish(tail);
    source.throw_failure();
    return exit_code_of(tail.status);
}

}  // namespace coalprof
