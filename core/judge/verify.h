// `coalprof verify`: every pattern, op and type on the GPU, compared with the model.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/judge/gate.h"
#include "core/sweep/sweep.h"

namespace coalprof {

struct VerifyScope {
    std::vector<std::string> patterns = {};  // empty: all
    std::string types = {};                  // lists as typed; empty: all
    std::string ops = {};
    std::string size = "1MiB";
    std::size_t most_values = 3;  // values that a pattern's default sweep keeps, evenly spread

    // Without pattern, values and machine. Throws UsageError.
    Sweep sweep() const;
};

// The points of a sweep of each pattern that fit together; those that access the same memories in
// the same way follow each other, op by op.
class CatalogPoints : public SweptPoints {
 public:
    // Throws UsageError.
    CatalogPoints(const VerifyScope& scope, const Machine& machine);
    std::uint64_t count() const override { return places_.size(); }
    void make(PlannedPoint& point) const override;

 private:
    struct Place {
        Op op;
        AccessSet accesses;
        std::size_t sweep;
        std::uint64_t number;
        friend auto operator<=>(const Place&, const Place&) = default;
    };
    std::deque<SweepPoints> sweeps_;
    std::vector<Place> places_;
};

// Compares the points of a result as they are measured, and passes it on to `next`, if any.
class VerifyJudge : public ResultSink {
 public:
    explicit VerifyJudge(ResultSink* next) : next_(next) {}
    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;
    // One case, of the counters that the model knows exactly; notes on intervals. After finish().
    const GateReport& report() const { return report_; }

 private:
    ResultSink* next_;
    GateReport report_{.command = "verify", .cases = {GateCase("measured as predicted")}};
    std::string gpu_;
    std::uint64_t unmeasured_ = 0;                      // predicted counters
    std::map<Counter, std::pair<int, int>> intervals_;  // that hold the measured value, and all
};

}  // namespace coalprof
