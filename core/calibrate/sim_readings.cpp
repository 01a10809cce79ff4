#include "core/calibrate/sim_readings.h"

#include <algorithm>

namespace coalprof {
namespace {

double value_of(const std::vector<SimValue>& values, double SimRates::*rate, double otherwise) {
    const auto found = std::ranges::find(values, rate, &SimValue::rate);
    return found == values.end() ? otherwise : found->value;
}

// A load that waits for the one before costs issue, L1's pass and its latency; beyond L1 also the
// way out (core/sim/multiprocessor.cpp). Before its latency a block waits for the GPU's rate of
// starting blocks.
std::vector<SimValue> values_of(const SimRound& round, const SimRates& prior,
                                double multiprocessors) {
    std::vector<SimValue> values = round.streams;
    if (!round.cycles) return values;
    const CycleReadings& read = *round.cycles;
    const double issued = read.instruction;
    const double turn = multiprocessors * read.clock_hertz /
                        value_of(values, &SimRates::blocks_per_second, prior.blocks_per_second);
    const SimValue of_cycles[] = {
        {&SimRates::clock_hertz, read.clock_hertz},
        {&SimRates::block_latency, read.next_block - turn},
        {&SimRates::dependent_issue, issued},
        {&SimRates::shared_latency, read.shared_load - issued - prior.shared_pass},
        {&SimRates::l1_latency, read.l1_load - issued - prior.l1_pass},
        {&SimRates::l2_latency, read.l2_load - issued - prior.l1_pass - read.line_request},
        {&SimRates::dram_latency, read.dram_load - read.l2_load},
        {&SimRates::least_request, read.line_request},
        {&SimRates::least_sector, read.sector}};
    for (const SimValue& one : of_cycles)
        if (one.value > 0) values.push_back(one);
    return values;
}

}  // namespace

std::vector<FoundSimRate> sim_rates_of(std::span<const SimRound> rounds, const Rates& prior,
                                       double multiprocessors) {
    std::vector<std::vector<SimValue>> values;
    for (const SimRound& round : rounds)
        values.push_back(values_of(round, prior.sim, multiprocessors));
    std::vector<FoundSimRate> found;
    for (const SimRateInfo& info : all_sim_rates()) {
        std::vector<double> seen;
        for (const std::vector<SimValue>& of_round : values)
            if (const double one = value_of(of_round, info.value, 0); one > 0) seen.push_back(one);
        const double shipped = prior.sim.*info.value, read_there = prior.sim_read.*info.value;
        FoundSimRate rate{.info = info, .value = shipped};
        if (!seen.empty()) {
            std::ranges::sort(seen);
            const double read = seen[seen.size() / 2];
            rate.value = read_there > 0 ? shipped * read / read_there : read;
            rate.is_measured = true;
            rate.doubt = (seen[seen.size() * 3 / 4] - seen[seen.size() / 4]) / read;
        }
        found.push_back(rate);
    }
    return found;
}

}  // namespace coalprof
