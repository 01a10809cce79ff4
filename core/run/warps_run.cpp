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
    bool more = source.next(line);  // a wrong first line leaves the outputs as they were
    sink.begin(head);
    for (; more; more = source.next(line)) {
        point.name.assign(line.name);
        predictor.predict_warp(line.access, point.predicted);
        sink.point(point);
    }
    tail.status = source.status();
    sink.finish(tail);
    source.throw_failure();
    return exit_code_of(tail.status);
}

}  // namespace coalprof
