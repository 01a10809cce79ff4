// Points of an earlier run that a journal has kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/sweep/point_source.h"

namespace coalprof {

// `journal` is a file of JSON Lines. Throws UsageError where it is of another command or another
// GPU than this head.
void require_same_run(const std::string& journal, const ResultHead& head);

// Takes points from the sources as long as those of the journal are the next of one of them, in
// whatever order, and hands them over with the number of their source. Answers what was taken from
// each and was not in the journal: it comes before what the source has left.
std::vector<std::optional<PlannedPoint>> replay(
    const std::string& journal, const std::vector<PointSource*>& sources,
    const std::function<void(std::size_t source, PlannedPoint planned, const Point& point)>& take);

// The words of a command line that say what is asked for, without those that say where the answer
// goes and how it is told.
std::vector<std::string> question_in(const std::vector<std::string>& argv);

}  // namespace coalprof
