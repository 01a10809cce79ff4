// `coalprof verify`: every pattern, op and type on the GPU, compared with the model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/run/agreement.h"
#include "core/sweep/patterns.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

struct VerifyScope {
    std::vector<std::string> patterns;  // empty: all
    std::vector<ElementType> types;     // empty: all
    std::vector<Op> ops;                // empty: all
    std::uint64_t size_bytes = 1u << 20;
    std::size_t most_values = 3;  // of each pattern's default sweep, evenly spread
};

// Every pattern, type and op of the scope that fit together; those that access the same memories in
// the same way follow each other, op by op.
class CatalogPoints : public SweptPoints {
 public:
    CatalogPoints(const VerifyScope& scope, const Machine& machine);
    std::uint64_t count() const override { return recipes_.size(); }
    void make(PlannedPoint& point) const override;

 private:
    struct Recipe {
        const PatternInfo* pattern = nullptr;
        PatternOptions options;
        Op op = Op::load;
        ElementType type = ElementType::f32;
        std::uint64_t value = 0;
        AccessSet accesses = {};
    };
    PlannedPoint point_of(const Recipe& recipe) const;
    void add_values(Recipe recipe, std::size_t most_values);

    std::uint64_t size_bytes_;
    Machine machine_;
    std::vector<Recipe> recipes_;
};

struct VerifyTotals {
    Status status = Status::complete;
    std::uint64_t points = 0;
    std::uint64_t failed_points = 0;
    std::uint64_t compared = 0;  // counters that both sides have
    std::uint64_t missing = 0;   // predicted, but not measured
    std::uint64_t disagreements = 0;
    struct Finding {
        std::string point;  // its name; empty: the whole run
        std::string text;
    };
    std::vector<Finding> findings = {};
    // The number of measured estimates, and of those in their interval.
    struct Estimated {
        std::uint64_t measured = 0;
        std::uint64_t held = 0;
    };
    std::map<Counter, Estimated> estimated = {};

    std::uint64_t agreed() const { return compared - disagreements; }
};

// Adds up the outcomes of a result's points, and passes them on to `points`, if any.
class Tally : public ResultSink {
 public:
    Tally(VerifyTotals& totals, ResultSink* points) : totals_(totals), points_(points) {}
    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    VerifyTotals& totals_;
    ResultSink* points_;
};

}  // namespace coalprof
