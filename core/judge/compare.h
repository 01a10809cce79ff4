// Compares two results, point by point and counter by counter. Exact counters compare exactly,
// times by the quartiles of their repetitions, estimates and counters that differ from run to run
// by a share. The older result is kept; points of the newer one are compared as they come.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/judge/gate.h"
#include "core/result/result.h"

namespace coalprof {

struct CompareOptions {
    // A time is worse from this increase on, where the quartiles of both do not overlap either.
    double max_slowdown = 0.05;
    // Numbers that are no exact counts and have no spread are equal within this share.
    double tolerance = 0.05;
    // Settings that may differ: "machine", "device", "type"; "all".
    std::vector<std::string> across = {};
    std::string asker = "compare";  // begins messages
};

class Comparison {
 public:
    explicit Comparison(CompareOptions options);
    ~Comparison();
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    // Fed one after the other, the older first. begin() of the newer one throws UsageError where
    // the two are of different sweeps.
    ResultSink& older();
    ResultSink& newer();
    // Ends the comparison. Throws UsageError where the results share no point.
    GateReport report();

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace coalprof
