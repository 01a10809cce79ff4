#include "core/machine/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/machine/generation.h"

namespace coalprof {
namespace {

void scale(SimRates& sim, const Board& board, const Board& measured, double processors,
           double memory) {
    if (board.boost_clock_mhz && measured.boost_clock_mhz)
        sim.clock_hertz *= static_cast<double>(*board.boost_clock_mhz) / *measured.boost_clock_mhz;
    for (double* const one : {&sim.blocks_per_second, &sim.read_requests_per_second,
                              &sim.sectors_per_second, &sim.write_requests_per_second,
                              &sim.write_sectors_per_second, &sim.reductions_per_second})
        *one *= processors;
    sim.dram_read_bytes_per_second *= memory;
    sim.dram_write_bytes_per_second *= memory;
    sim.dram_rows_per_second *= memory;
    sim.dram_turns_per_second *= memory;
}

// A board that was not measured: the rates of `measured` for each multiprocessor, and for each byte
// a second of peak bandwidth. How far that is off is not known; intervals are widened threefold (in
// powers).
Rates scaled(const Board& board, const Board& measured, Rates rates) {
    const double processors = board.multiprocessors / static_cast<double>(measured.multiprocessors);
    const double memory = board.peak_bytes_per_second / measured.peak_bytes_per_second;
    scale(rates.sim, board, measured, processors, memory);
    scale(rates.sim_read, board, measured, processors, memory);
    rates.doubt = rates.cache_doubt = 3;
    return rates;
}

// The generation of `cc` if boards of it were measured, else the nearest in years of which some
// were.
const Generation& measured_near(ComputeCapability cc) {
    const std::vector<Generation>& all = all_generations();
    const auto own =
        std::ranges::find_if(all, [&](const Generation& one) { return one.rules.back().cc >= cc; });
    const auto distance = [&](const Generation& one) {
        return std::abs(&one - &*all.begin() - (own - all.begin()));
    };
    const Generation* nearest = nullptr;
    for (const Generation& one : all)
        if (!one.measured.empty() && (!nearest || distance(one) < distance(*nearest)))
            nearest = &one;
    return *nearest;
}

const Board& board_of(const Generation& generation, const MeasuredBoard& measured) {
    return *std::ranges::find(generation.boards, measured.board, &Board::key);
}

// A present GPU is identified by its driver's name.
const MeasuredBoard* measured_as(const Machine& machine) {
    for (const Generation& generation : all_generations())
        for (const MeasuredBoard& one : generation.measured)
            if (machine.board->key == one.board ||
                is_called(board_of(generation, one), machine.name))
                return &one;
    return nullptr;
}

}  // namespace

StartRange starts_about(double seconds) {
    constexpr double doubt_seconds = 0.15e-6;
    return {.least_seconds = std::max(seconds - doubt_seconds, 0.0),
            .most_seconds = seconds + doubt_seconds};
}

std::span<const SimRateInfo> all_sim_rates() {
    constexpr std::string_view per_second = "1/s", cycles = "cycles";
    static constexpr std::array rates{
        SimRateInfo{"sim_clock_hertz", "Hz", &SimRates::clock_hertz},
        SimRateInfo{"sim_start_seconds", "s", &SimRates::start_seconds},
        SimRateInfo{"start_seconds", "s", &SimRates::launch_seconds},
        SimRateInfo{"flush_seconds", "s", &SimRates::flush_seconds},
        SimRateInfo{"sim_blocks_per_second", per_second, &SimRates::blocks_per_second},
        SimRateInfo{"sim_read_requests_per_second", per_second,
                    &SimRates::read_requests_per_second},
        SimRateInfo{"sim_sectors_per_second", per_second, &SimRates::sectors_per_second},
        SimRateInfo{"sim_write_requests_per_second", per_second,
                    &SimRates::write_requests_per_second},
        SimRateInfo{"sim_write_sectors_per_second", per_second,
                    &SimRates::write_sectors_per_second},
        SimRateInfo{"sim_reductions_per_second", per_second, &SimRates::reductions_per_second},
        SimRateInfo{"sim_line_reductions_per_second", per_second,
                    &SimRates::line_reductions_per_second},
        SimRateInfo{"sim_dram_read_bytes_per_second", "B/s", &SimRates::dram_read_bytes_per_second},
        SimRateInfo{"sim_dram_write_bytes_per_second", "B/s",
                    &SimRates::dram_write_bytes_per_second},
        SimRateInfo{"sim_dram_rows_per_second", per_second, &SimRates::dram_rows_per_second},
        SimRateInfo{"sim_dram_turns_per_second", per_second, &SimRates::dram_turns_per_second},
        SimRateInfo{"sim_first_block_latency", cycles, &SimRates::first_block_latency},
        SimRateInfo{"sim_block_latency", cycles, &SimRates::block_latency},
        SimRateInfo{"sim_dependent_issue", cycles, &SimRates::dependent_issue},
        SimRateInfo{"sim_l1_pass", cycles, &SimRates::l1_pass},
        SimRateInfo{"sim_shared_pass", cycles, &SimRates::shared_pass},
        SimRateInfo{"sim_shared_latency", cycles, &SimRates::shared_latency},
        SimRateInfo{"sim_l1_latency", cycles, &SimRates::l1_latency},
        SimRateInfo{"sim_l2_latency", cycles, &SimRates::l2_latency},
        SimRateInfo{"sim_dram_latency", cycles, &SimRates::dram_latency},
        SimRateInfo{"sim_crowd", cycles, &SimRates::crowd},
        SimRateInfo{"sim_write_crowd", cycles, &SimRates::write_crowd},
        SimRateInfo{"sim_l1_queue", cycles, &SimRates::l1_queue},
        SimRateInfo{"sim_l2_queue", cycles, &SimRates::l2_queue},
        SimRateInfo{"sim_join_cycles", cycles, &SimRates::join_cycles},
        SimRateInfo{"sim_between_schedulers", cycles, &SimRates::between_schedulers},
        SimRateInfo{"sim_least_request", cycles, &SimRates::least_request},
        SimRateInfo{"sim_least_sector", cycles, &SimRates::least_sector},
        SimRateInfo{"sim_l2_share", "1", &SimRates::l2_share},
        SimRateInfo{"sim_dirty_share", "1", &SimRates::dirty_share},
        SimRateInfo{"sim_partial_share", "1", &SimRates::partial_share},
    };
    return rates;
}

std::optional<Rates> rates_of(const Machine& machine) {
    if (machine.measured) return machine.measured->rates;
    if (!machine.board) return std::nullopt;
    if (const MeasuredBoard* own = measured_as(machine)) return own->rates;
    if (machine.board->multiprocessors == 0 || machine.board->l2_bytes.value_or(0) == 0)
        return std::nullopt;
    const Generation& other = measured_near(machine.rules->cc);
    return scaled(*machine.board, board_of(other, other.measured.front()),
                  other.measured.front().rates);
}

std::string source_of_rates(const Machine& machine) {
    if (const MeasuredBoard* own = measured_as(machine)) return std::string(own->board);
    return fmt::format("{}, scaled", measured_near(machine.rules->cc).measured.front().board);
}

}  // namespace coalprof
