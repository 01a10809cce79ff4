// One way through: points of a source, answered by a backend, into a result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/run/backend.h"
#include "core/text/error.h"

namespace coalprof {

// Points with their backend: one for the model, one for each GPU.
struct Leg {
    PointSource& source;
    Backend& backend;
};

// Data that outlives the run, however it ends.
struct Keeping {
    // Called when the head is known: the journal of the earlier run to continue; empty: none.
    std::function<std::string(const ResultHead& head)> journal = {};
    // Called with each point as it is answered, which may be before its place in the result is
    // reached; `is_replayed`: by that earlier run.
    std::function<void(const Point& point, bool is_replayed)> keep = {};
};

// Every leg into one result. Several are answered at the same time, each in a separate thread; the
// result has the first point of each, then the second of each. Fills in these parts of the head:
// backend, device, devices, passes, compares_settings. `missing` are GPUs that could not be used:
// the result is partial then. An Error that ends the points (a line of a file that does not fit) is
// thrown when the result of those before is finished; where open() of the source fails already, or
// keeping.journal() throws, nothing is begun. A signal ends them too: then the result is
// `interrupted`. Exceptions of the sink are passed on at once.
ExitCode run_points(const std::vector<Leg>& legs, ResultHead head, ResultSink& sink,
                    std::vector<Warning> missing = {}, const Keeping& keeping = {});

}  // namespace coalprof
