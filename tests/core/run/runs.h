// Runs as the program makes them, in a line.
#pragma once

#include <utility>
#include <vector>

#include "core/run/backend.h"
#include "core/run/device_backend.h"
#include "core/run/run_points.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// The same counters of every launch.
inline auto wants(std::vector<Counter> counters) {
    return [counters = std::move(counters)](AccessSet) { return counters; };
}

inline ExitCode run_on_model(PointSource& points, ResultSink& sink) {
    ModelBackend model;
    return run_points(points, model, {}, sink);
}

inline ExitCode run_on_device(SweptPoints& points, DeviceRun run, ResultSink& sink) {
    run.accesses = points.check();
    DeviceBackend device(std::move(run));
    return run_points(points, device, {}, sink);
}

// Points that a test has made itself.
class ListedPoints : public SweptPoints {
 public:
    explicit ListedPoints(std::vector<PlannedPoint> points) : points_(std::move(points)) {}
    std::uint64_t count() const override { return points_.size(); }
    void make(PlannedPoint& point) const override {
        const std::uint64_t number = point.number;
        point = points_[number];
        point.number = number;
    }

 private:
    std::vector<PlannedPoint> points_;
};

}  // namespace coalprof
