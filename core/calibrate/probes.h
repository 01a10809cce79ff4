// The launches that `coalprof calibrate` times: of the catalog, so that each is a command that
// anybody can repeat. Most are limited by one part of the GPU alone; the others use every part a
// little, which keeps the rates consistent.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/machine/sim_rates.h"
#include "core/pattern/plan.h"

namespace coalprof {

struct Probe {
    std::string command;  // "offset --range 0 --op load ..."
    Plan plan;
    CacheState cache = CacheState::cold;
};

// Sizes follow the machine's L2, whose size must be known. Arrays above `most_bytes` are left out.
std::vector<Probe> calibration_probes(const Machine& machine, std::uint64_t most_bytes);

// Two launches that differ in length alone, limited by one rate of the simulation: the rate is the
// difference in work divided by the difference in time.
struct SimStream {
    double SimRates::*rate = nullptr;
    Probe shorter;
    Probe longer;
    double more = 0;  // units of the rate
};
std::vector<SimStream> simulation_streams(const Machine& machine, std::uint64_t most_bytes);

}  // namespace coalprof
