#include "core/traffic/duration.h"

#include <algorithm>
#include <cmath>

namespace coalprof {
namespace {

constexpr std::array<std::string_view, time_term_count> names{
    "start", "blocks", "instructions", "latency", "l1", "l2", "dram", "same_line", "atomics"};

// 5 and 95 % of measured / predicted of the launches of tests/data that the model was fitted to.
constexpr std::array<Spread, time_term_count> spreads{{
    {0.85, 1.2},   // start
    {0.85, 1.2},   // blocks
    {0.8, 1.6},    // instructions
    {0.8, 1.6},    // latency
    {0.65, 1.5},   // l1
    {0.82, 1.48},  // l2
    {0.8, 1.38},   // dram
    {0.4, 1.3},    // same_line
    {0.9, 1.1},    // atomics
}};

// Slices of L2, of which each has the lines that a hash gives it. Their number is not published for
// GH100; it only sets the scale of Rates::slice_imbalance.
constexpr double l2_slices = 96;

double burst_seconds(const DramFlow& flow, double rate, double sparseness, double scattered) {
    constexpr double least_density = 0.02;
    return flow.bursts / rate * std::pow(std::max(flow.density, least_density), -sparseness) *
           (1 + scattered * flow.again);
}

double atomic_seconds(const Work& work, const Rates& rates) {
    if (work.reductions == 0) return 0;
    return work.reductions / rates.reductions_per_second *
           (1 + rates.slice_imbalance * std::sqrt(l2_slices / std::max(work.reduced_lines, 1.0)));
}

}  // namespace

std::string_view name_of(TimeTerm term) { return names[static_cast<std::size_t>(term)]; }

TimeTerm Duration::longest() const {
    return static_cast<TimeTerm>(std::ranges::max_element(term_seconds) - term_seconds.begin());
}

Duration duration_of(const Work& work, const Rates& rates) {
    Duration duration;
    const auto term = [&](TimeTerm which) -> double& {
        return duration.term_seconds[static_cast<std::size_t>(which)];
    };
    term(TimeTerm::start) = rates.start_seconds;
    term(TimeTerm::blocks) = work.blocks / rates.blocks_per_second;
    term(TimeTerm::instructions) =
        work.warps / rates.warps_per_second + work.instructions / rates.instructions_per_second;
    term(TimeTerm::latency) =
        work.waves * (rates.latency_seconds + rates.dram_latency_seconds * work.missing +
                      rates.dependent_latency_seconds * work.dependent_loads);
    term(TimeTerm::l1) = work.load_lines / rates.l1_lines_per_second;
    term(TimeTerm::l2) = work.l2_read_requests / rates.l2_read_requests_per_second +
                         work.store_lines / rates.l2_write_requests_per_second +
                         work.l2_sectors / rates.l2_sectors_per_second;
    term(TimeTerm::dram) = burst_seconds(work.dram.read, rates.dram_read_bursts_per_second,
                                         rates.read_sparseness, rates.scattered) +
                           burst_seconds(work.dram.write, rates.dram_write_bursts_per_second,
                                         rates.write_sparseness, rates.scattered);
    term(TimeTerm::same_line) = work.stores_of_line / rates.line_stores_per_second +
                                work.updates_of_line / rates.line_updates_per_second;
    term(TimeTerm::atomics) = atomic_seconds(work, rates);

    double sum = 0;
    for (std::size_t k = 1; k < time_term_count; ++k)
        sum += std::pow(duration.term_seconds[k] * 1e6, rates.overlap);
    const double exposed =
        rates.exposed_latency * work.waves / work.resident_blocks * rates.latency_seconds;
    duration.seconds = rates.start_seconds + exposed + std::pow(sum, 1 / rates.overlap) * 1e-6;
    return duration;
}

Spread spread_of(TimeTerm longest, const Rates& rates) {
    const Spread spread = spreads[static_cast<std::size_t>(longest)];
    return {std::pow(spread.low, rates.doubt), std::pow(spread.high, rates.doubt)};
}

}  // namespace coalprof
