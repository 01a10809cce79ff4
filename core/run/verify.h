// `coalprof verify`: every pattern, op and type on the GPU, held against the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run/agreement.h"
#include "core/run/device_run.h"

namespace coalprof {

struct VerifyScope {
    std::vector<std::string> patterns;  // empty: all
    std::vector<ElementType> types;     // empty: all
    std::vector<Op> ops;                // empty: all
    std::uint64_t size_bytes = 1u << 20;
    std::size_t most_values = 3;  // of each pattern's default sweep, evenly spread
};

// The points of one op, for all patterns and types that take it.
std::vector<PlannedPoint> points_to_verify(const VerifyScope& scope, Op op, const Machine& machine);

struct VerifyTotals {
    std::uint64_t points = 0;
    std::uint64_t failed_points = 0;
    std::uint64_t compared = 0;  // counters that both sides have
    std::uint64_t missing = 0;   // predicted, but not measured
    std::uint64_t disagreements = 0;
    struct Finding {
        std::string point;  // its name; empty: the whole run
        std::string text;
        std::optional<Disagreement> disagreement;  // none: the point or the run failed
    };
    std::vector<Finding> findings = {};

    std::uint64_t agreed() const { return compared - disagreements; }
};

// What `coalprof verify` came to.
struct VerifyReport {
    ResultHead head = {};  // of the last op that was run: the GPU and the machine
    NamedValues scope = {};
    Status status = Status::complete;
    VerifyTotals totals = {};
    std::vector<Warning> warnings = {};  // of its points, as results carry them
};

// Adds what a finished point says.
void tally(VerifyTotals& totals, const std::string& name, const Point& point,
           const std::vector<Counter>& wanted);

}  // namespace coalprof
