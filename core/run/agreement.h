// Prediction compared with measurement, counter by counter. A number of the model without an
// interval is meant to be exact, so any difference is worth a warning that shows both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

struct Disagreement {
    Counter counter;
    std::uint64_t predicted = 0;
    std::uint64_t measured = 0;
};

// An estimate's interval compared with the measured value.
struct HeldInterval {
    Counter counter;
    bool holds = false;
};

struct Agreement {
    std::uint64_t compared = 0;  // integer counters that both sides have
    std::uint64_t missing = 0;   // predicted, but could not be measured
    std::vector<Disagreement> disagreements;
    std::vector<HeldInterval> intervals;
};

// For a measured point. Ratios follow from the integers and are not compared.
Agreement agreement_of(const Point& point);

// "load_sectors: predicted 163840, measured 163841"
std::string describe(const Disagreement& disagreement);

}  // namespace coalprof
