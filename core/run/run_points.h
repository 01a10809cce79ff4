// One way through: points of a source, answered by a backend, into a result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/run/backend.h"
#include "core/text/error.h"

namespace coalprof {

// Points and who answers them: one for the model, one for each GPU.
struct Leg {
    PointSource& source;
    Backend& backend;
};

// What outlives the run, whatever ends it.
struct Keeping {
    // Asked when the head is known: the journal of an earlier run that is gone on from; empty:
    // none.
    std::function<std::string(const ResultHead& head)> journal = {};
    // Told each point as it is answered, which may be before its turn in the result has come;
    // `is_replayed`: by that earlier run.
    std::function<void(const Point& point, bool is_replayed)> keep = {};
};

// Every leg into one result. Several are answered at the same time, each in a thread of its own;
// the result has the first point of each, then the second of each. Of the head is filled in here:
// backend, device, devices, passes, compares_settings. `missing` are GPUs that could not be used:
// the result is partial then. An Error that ends the points (a line of a file that does not fit) is
// thrown when the result of those before is finished; where not even open() of the source goes
// well, or keeping.journal() throws, nothing is begun. A signal ends them too: then the result
// is `interrupted`. What the sink throws is passed on at once.
ExitCode run_points(const std::vector<Leg>& legs, ResultHead head, ResultSink& sink,
                    std::vector<Warning> missing = {}, const Keeping& keeping = {});

}  // namespace coalprof
