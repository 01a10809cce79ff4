// One way through: points of a source, answered by a backend, into a result.
#pragma once

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

// Every leg into one result, one after the other. Of the head is filled in here: backend, device,
// devices, passes, compares_settings. `missing` are GPUs that could not be used: the result is
// partial then. An Error that ends the points (a line of a file that does not fit) is thrown when
// the result of those before is finished; where not even open() of the source goes well, nothing is
// begun. A signal ends them too: then the result is `interrupted`. What the sink throws is passed
// on at once.
ExitCode run_points(const std::vector<Leg>& legs, ResultHead head, ResultSink& sink,
                    std::vector<Warning> missing = {});

}  // namespace coalprof
