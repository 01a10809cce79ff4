#include "core/run/sweep_run.h"

#include <algorithm>

#include "core/model/obstacles.h"
#include "core/model/predict.h"
#include "core/run/settings_judge.h"
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

// Of each machine, once each: what would keep it from running what is predicted.
void warn_of_obstacles(const PlannedPoint& planned, std::vector<Warning>& warnings) {
    for (const Warning& found : obstacle_warnings(planned.machine, planned.plan)) {
        const auto is_said = [&](const Warning& warning) { return warning.text == found.text; };
        if (std::none_of(warnings.begin(), warnings.end(), is_said)) warnings.push_back(found);
    }
}

}  // namespace

ExitCode run_sweep(const std::vector<PlannedPoint>& points, ResultHead head, ResultSink& sink) {
    head.compares_settings = !points.empty() && !points.front().settings.empty();
    sink.begin(head);
    ResultTail tail;
    SettingsJudge judge;
    for (const PlannedPoint& planned : points) {
        if (stop_signal() != 0) {
            tail.status = Status::interrupted;
            break;
        }
        try {
            const Point point = predicted_point(planned);
            judge.add(planned, point);
            sink.point(point);
            warn_of_obstacles(planned, tail.warnings);
        } catch (const Stopped&) {
            tail.status = Status::interrupted;
            break;
        }
    }
    tail.verdicts = judge.verdicts();
    sink.finish(tail);
    return exit_code_of(tail.status);
}

}  // namespace coalprof
