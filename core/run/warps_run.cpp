#include "core/run/warps_run.h"

#include "core/model/predict.h"
#include "core/run/stop.h"
#include "core/run/warps_source.h"

namespace coalprof {

ExitCode run_warps(const std::string& file, const Machine& machine, const ResultHead& head,
                   ResultSink& sink) {
    WarpsSource source(file);
    const Predictor predictor(machine);
    WarpLine line;
    Point point;
    ResultTail tail;
    sink.begin(head);
    try {
        while (stop_signal() == 0 && source.reader().next(line)) {
            point.name.assign(line.name);
            predictor.predict_warp(line.access, point.predicted);
            sink.point(point);
        }
    } catch (const Stopped&) {  // while it waited for input
        tail.status = Status::interrupted;
    }
    if (stop_signal() != 0) tail.status = Status::interrupted;
    sink.finish(tail);
    return exit_code_of(tail.status);
}

}  // namespace coalprof
