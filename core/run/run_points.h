// One way through: points of a source, answered by a backend, into a result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/result/result.h"
#include "core/run/backend.h"
#include "core/sweep/swept_points.h"
#include "core/text/error.h"

namespace coalprof {

// Data that outlives the run, however it ends.
struct Keeping {
    // Called when the head is known: the points of the earlier run to continue, JSON Lines; empty:
    // none.
    std::function<std::string(const ResultHead& head)> earlier = {};
    // Called with each point as it is answered; `is_replayed`: by that earlier run.
    std::function<void(const Point& point, bool is_replayed)> keep = {};
};

// Fills in these parts of the head: backend, device, passes, compares_settings. An Error that ends
// the points (a line of a file that does not fit) is thrown when the result of those before is
// finished; where open() of the source fails already, or keeping.earlier() throws, nothing is
// begun. A signal ends them too: then the result is `interrupted`. Exceptions of the sink are
// passed on at once.
ExitCode run_points(PointSource& source, Backend& backend, ResultHead head, ResultSink& sink,
                    const Keeping& keeping = {});

// Why a saved result is of other points than this head's, "it is of another command"; empty where
// it is of the same.
std::string why_of_another(const std::string& file, const ResultHead& head,
                           std::string_view why_unreadable);

// Takes from the source each point of the earlier run that is its next one, and delivers it. Others
// are skipped: they follow a damaged line and come again, or belong to an input that was corrected.
// Returns the point taken from the source that the earlier run has not: it comes before the rest of
// the source. Throws Stopped where a signal asks for the end.
std::optional<PlannedPoint> replay(const std::string& earlier, PointSource& source,
                                   const std::function<void(const Point& point)>& take);

}  // namespace coalprof
