// `coalprof calibrate`: launches timed on the GPU present, and the rates that follow from them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/machine/machine.h"
#include "core/machine/rates.h"
#include "core/machine/sim_rates.h"
#include "core/pattern/plan.h"
#include "core/result/document.h"
#include "core/run/device_ceilings.h"

namespace coalprof {

// A launch that `coalprof calibrate` times: a command that anybody can repeat.
struct Probe {
    std::string command;  // "formula 'i' --op load ..."
    Plan plan;
    CacheState cache = CacheState::cold;
};

// Two launches that differ in length alone, limited by one rate of the simulation: the rate is the
// difference in work divided by the difference in time.
struct SimStream {
    double SimRates::*rate = nullptr;
    Probe shorter;
    Probe longer;
    double more = 0;  // units of the rate
};
// Sizes follow the machine's L2, whose size must be known. Arrays above `most_bytes` are left out.
std::vector<SimStream> simulation_streams(const Machine& machine, std::uint64_t most_bytes);

// From measurements of a GPU to the rates of the simulation (core/machine/sim_rates.h).
// Each is a reading and no fit: cycles that a kernel counted, or how much longer a launch takes
// that does more of one thing. Where the simulation is better with another value than what was
// read on the chip (Rates::sim_read), that ratio is kept. The other rates keep the chip's values.
struct SimValue {
    double SimRates::*rate = nullptr;
    double value = 0;
};

// The readings of one round of launches.
struct SimRound {
    std::optional<CycleReadings> cycles;
    std::vector<SimValue> streams = {};
};

struct FoundSimRate {
    SimRateInfo info;
    double value = 0;
    bool is_measured = false;  // else it is the prior's
    double doubt = 0;          // distance of the rounds' quartiles, as a share
};

// By the median of the rounds, in the order of all_sim_rates().
std::vector<FoundSimRate> sim_rates_of(std::span<const SimRound> rounds, const Rates& prior,
                                       double multiprocessors);

struct TimedProbe {
    std::string command;
    std::uint64_t repeats = 0;   // all rounds together
    double seconds = 0;          // the mean of the middle rounds' medians
    double spread = 0;           // distance of a round's quartiles, as a share of the median
    double drift = 0;            // distance of the fastest round's median from the slowest's
    double longest_seconds = 0;  // the longest launch that was timed
    std::uint64_t rounds = 0;
    std::uint64_t delayed_rounds = 0;  // rounds in which one launch took far longer than the others
    double predicted_seconds = 0;      // time that follows from the rates found
};

struct Calibration {
    DeviceFacts device;
    std::string prior;  // board of the rates that were not measured
    DeviceCeilings ceilings;
    std::vector<TimedProbe> launches;
    std::vector<FoundSimRate> rates;
    std::vector<SimStream> streams;   // that determine some of these
    std::vector<std::string> failed;  // launches that could not be timed, with the reason
    std::string disturbance;          // a sentence; empty: nothing was seen
};

// Throws Error where time is not modelled on this GPU, where it is lost, or where too few launches
// could be timed; Stopped.
Calibration calibrate(KernelLauncher& launcher);

// The reason why the GPU did not give the same answer twice; empty: it did.
std::string disturbance_in(std::span<const TimedProbe> launches);

// A calibration as a machine file: a list that every format of lists can hold; as JSON it is read
// back (core/machine/machine_file.h).

// Rows of two kinds: rates, and the launches that were timed.
ListDocument machine_document(const Calibration& calibration);

}  // namespace coalprof
