// Points of an earlier run that a journal has kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// Journals left by earlier runs.
struct KeptJournals {
    struct Unfit {
        std::string path;
        std::string why;  // "it is of another command"
    };
    std::vector<std::string> own;  // of this head's sweep; the one with most points first
    std::vector<Unfit> others;
};
KeptJournals told_apart(const std::vector<std::string>& journals, const ResultHead& head);

// Takes from the sources each point of the journal that is the next of one of them, and delivers it
// with the number of its source. Others are skipped: they follow a damaged line and come again, or
// belong to an input that was corrected. Returns the points taken from each source that were not in
// the journal: they come before the rest of the source. Throws Stopped where a signal asks for the
// end.
std::vector<std::optional<PlannedPoint>> replay(
    const std::string& journal, const std::vector<PointSource*>& sources,
    const std::function<void(std::size_t source, PlannedPoint planned, const Point& point)>& take);

}  // namespace coalprof
