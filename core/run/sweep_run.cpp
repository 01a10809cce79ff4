#include "core/run/sweep_run.h"

#include "core/model/predict.h"
#include "core/run/stop.h"

namespace coalprof {
namespace {

Point predicted_point(const PlannedPoint& planned) {
    Point point;
    point.name = planned.name;
    point.parameters = planned.parameters;
    point.predicted = Predictor(planned.machine).predict_launch(planned.plan, {});
    return point;
}

}  // namespace

ExitCode run_sweep(const std::vector<PlannedPoint>& points, const ResultHead& head,
                   ResultSink& sink) {
    sink.begin(head);
    ResultTail tail;
    for (const PlannedPoint& planned : points) {
        if (stop_signal() != 0) {
            tail.status = Status::interrupted;
            break;
        }
        try {
            sink.point(predicted_point(planned));
        } catch (const Stopped&) {
            tail.status = Status::interrupted;
            break;
        }
    }
    sink.finish(tail);
    return exit_code_of(tail.status);
}

}  // namespace coalprof
