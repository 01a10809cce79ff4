// Prediction against measurement, counter by counter. Where the model gives a number it claims to
// be exact, so any difference is worth a warning that shows both.
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

struct Agreement {
    std::uint64_t compared = 0;  // integer counters that both sides have
    std::uint64_t missing = 0;   // that were predicted and to be measured, and could not be
    std::vector<Disagreement> disagreements;
};

// Ratios follow from the integers and are not compared; nor is time.
Agreement compare(const Readings& predicted, const Readings& measured);

// "load_sectors: predicted 163840, measured 163841"
std::string describe(const Disagreement& disagreement);

}  // namespace coalprof
