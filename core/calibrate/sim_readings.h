// From measurements of a GPU to the rates of the simulation of kernels (core/machine/sim_rates.h).
// Each is a reading and no fit: cycles that a kernel counted, or how much longer a launch takes
// that does more of one thing. Where the simulation is better with another value than what was
// read on the chip (Rates::sim_read), that ratio is kept. The other rates keep the chip's values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/calibrate/probes.h"
#include "core/device/device.h"
#include "core/machine/rates.h"

namespace coalprof {

struct SimValue {
    double SimRates::*rate = nullptr;
    double value = 0;
};

// The readings of one round of launches.
struct SimRound {
    std::optional<CycleReadings> cycles;
    std::vector<SimValue> streams;
};

struct FoundSimRate {
    SimRateInfo info;
    double value = 0;
    bool is_measured = false;  // else it is the prior's
    double doubt = 0;          // between the quartiles of the rounds, as a share
};

// By the median of the rounds, in the order of all_sim_rates().
std::vector<FoundSimRate> sim_rates_of(std::span<const SimRound> rounds, const Rates& prior,
                                       double multiprocessors);

}  // namespace coalprof
