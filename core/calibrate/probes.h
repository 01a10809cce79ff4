// The launches that `coalprof calibrate` times: of the catalog, so that each is a command that
// anybody can repeat. Most are limited by one part of the GPU alone; the others are a little of
// everything, which keeps the rates together honest.
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

// Sizes follow the machine's L2, whose size has to be known. Arrays above `most_bytes` are left
// out.
std::vector<Probe> calibration_probes(const Machine& machine, std::uint64_t most_bytes);

// Two launches that differ in length alone, limited by one rate of the simulation: what the longer
// one does more of, in the time that it takes longer, is the rate.
struct SimStream {
    double SimRates::*rate = nullptr;
    Probe shorter;
    Probe longer;
    double more = 0;  // units of the rate
};
std::vector<SimStream> simulation_streams(const Machine& machine, std::uint64_t most_bytes);

}  // namespace coalprof
