// The sweep of one GPU, step by step, for run_sweep_on_devices(). What can still be done is done:
// after a failed point the next one, without counters the times, without the GPU the prediction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/device_ceilings.h"
#include "core/run/device_run.h"
#include "core/run/settings_judge.h"

namespace coalprof {

class SweepOnDevice {
 public:
    // `sweep` must outlive this. `is_one_of_several`: other launchers live beside its own, so that
    // it has to be activated, and warnings have to say whose they are. `judge` sees every point.
    SweepOnDevice(const DeviceSweep& sweep, bool is_one_of_several, SettingsJudge& judge,
                  ResultSink& sink);

    // Before the result begins: counts the passes, measures the ceilings, and answers what the
    // result says of the GPU.
    NamedValues prepare();
    // Hands every point to the sink.
    void run();

    std::uint64_t passes() const { return passes_; }
    Status status() const;
    const std::vector<Warning>& warnings() const { return warnings_; }

 private:
    void activate();
    void measure_ceilings();
    // Times and counts points until it is time to deliver them; answers how many.
    std::size_t run_session(std::span<const PlannedPoint> planned);
    // `check`: of its data, which goes on while the next points are timed; none for a point that
    // failed.
    Point timed_point(const PlannedPoint& planned, std::shared_future<void>& check);
    void await_check(const std::shared_future<void>& check, Point& point);
    void read_counters(std::span<const PlannedPoint> planned, std::vector<Point>& points);
    // Reads the counters of the points that could be timed; answers why it could not.
    std::string collect(std::span<const PlannedPoint> planned, std::vector<Point>& points);
    template <typename Work>
    void attempt(const std::string& point, Work work);
    void set_missing(const Program& program, Readings& measured, const std::string& reason) const;
    void deliver(const PlannedPoint& planned, Point& point);

    void run_failed(const std::string& reason);
    void fail(Point& point, const std::string& reason);
    void warn(std::string code, std::string point, std::string text);
    void warn_of_run(std::string code, std::string_view text);

    std::span<const PlannedPoint> planned_;
    DeviceRun run_;
    bool is_one_of_several_;
    SettingsJudge& judge_;
    ResultSink& sink_;
    std::uint64_t passes_ = 0;
    DeviceCeilings ceilings_;
    std::string lost_;  // why nothing more can be measured; empty: it can
    bool some_failed_ = false;
    bool counters_failed_ = false;
    std::vector<Warning> warnings_;
};

}  // namespace coalprof
