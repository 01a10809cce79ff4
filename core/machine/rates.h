// The rates of a GPU, how certain they are, and which ones a machine has.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/machine.h"
#include "core/machine/sim_rates.h"

namespace coalprof {

// The range of an empty launch's time over the hosts that a GPU may be in.
struct StartRange {
    double least_seconds = 0;
    double most_seconds = 0;
};

struct Rates {
    SimRates sim;
    // The readings of `coalprof calibrate` on a GPU with these rates; 0: equal to `sim`. The others
    // were fitted to whole kernels, and keep their ratio to the readings on another GPU.
    SimRates sim_read;
    // Intervals of times, and of the counters that caches decide, are widened by this power: 1
    // where launches of this very GPU were measured.
    double doubt = 1;
    double cache_doubt = 1;
    // The range of SimRates::launch_seconds on other hosts; narrower where it was measured on this
    // one.
    std::optional<StartRange> starts = {};
};

// For a start that was measured on the host itself, in one context: others differ by up to 0.16 us
// (docs/measurements/h200/contexts.txt).
StartRange starts_about(double seconds);

// A rate by its name in machine files.
struct SimRateInfo {
    std::string_view key;
    std::string_view unit;
    double SimRates::*value = nullptr;
};
std::span<const SimRateInfo> all_sim_rates();

// Measured rates of a Machine's own GPU.
struct MeasuredRates {
    std::string device;  // its name: target of Board::name of the Machine
    Rates rates;
};

// None without a known board, or a similar one.
std::optional<Rates> rates_of(const Machine& machine);
// The board that gives the rates of a present GPU, for people: "h100", "h200, scaled". It has a
// board.
std::string source_of_rates(const Machine& machine);

}  // namespace coalprof
