// The lines of a warps file added up: one point for all of them, and one for each number of sectors
// (transactions, passes) that warp instructions of a kind take.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/result/result.h"

namespace coalprof {

// Takes the points of the lines and hands on their sums, the total first.
class WarpTotals : public ResultSink {
 public:
    explicit WarpTotals(ResultSink& next) : next_(next) {}

    void begin(const ResultHead& head) override { next_.begin(head); }
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    ResultSink& next_;
    Point total_;
    std::map<std::pair<std::string, std::uint64_t>, Point> bins_;  // by op and number
};

}  // namespace coalprof
