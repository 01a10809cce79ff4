// A multiprocessor and its share of L2 and of device memory, event by event: warps issue in order
// on four schedulers and wait for their loads; each unit is a queue that serves one after the other
// at its rate.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/machine/sim_rates.h"
#include "core/sim/block_trace.h"

namespace coalprof {

// Stores meet in few slices of L2 if they take more times as long as in all.
inline constexpr double crowded = 2;

// Cycles of its clock, with its share of what the whole GPU has a second.
struct MultiprocessorRates : SimRates {
    double block_start = 0;   // between blocks that start
    double read_request = 0;  // of a line, on its way to L2
    double sector = 0;        // of each sector on its way back
    double write_request = 0;
    double write_sector = 0;
    double reduction = 0;  // of each sector
    double dram_byte = 0;
    double dram_write_byte = 0;
    std::uint32_t l1_lines = 0;
    std::uint32_t resident_blocks = 1;
    double slice_sector = 0;  // stored, if all slices of L2 work
    // A load that comes to L2 within `turn_window` of any multiprocessor's store to its line keeps
    // the slice busy for so many cycles more (docs/measurements/h200/met_lines.txt).
    double slice_turn = 0;
    double turn_window = 0;
    double sharers = 1;  // multiprocessors at work
    double slices = 1;   // of L2
    // By site: how many times longer stores take, as they meet in few slices; empty: once.
    std::vector<double> store_crowds = {};
    std::vector<double> stored_lines = {};  // by site, different ones; 0: not known
};

// By site: bytes of device memory for each requested sector, and how many times as long they take
// as bytes of a long run.
struct SiteTraffic {
    double read_bytes = 0;
    double write_bytes = 0;
    double read_times = 1;
    double write_times = 1;
};

enum class SimUnit : std::uint8_t { blocks, issue, integer, special, doubles, l1, l2, dram };
inline constexpr std::size_t sim_units = 8;

// Cycles that the accesses of a site cause.
struct SiteCycles {
    double l1 = 0, l1_data = 0, l2 = 0, dram = 0;  // of the units; l1: its busier stage
    double waits = 0;                              // of warps, for what it loads
};

struct SimResult {
    double cycles = 0;  // until the last block ends
    struct End {
        double at = 0;
        double l2_busy = 0;  // until then
    };
    std::vector<End> ends;  // of blocks, in their order
    std::array<double, sim_units> busy{};
    std::vector<double> load_sectors, hit_sectors;  // by site
    std::vector<SiteCycles> cycles_of_site;
    // Lines, by site; of stores those that have left, and all.
    std::vector<double> read_requests, write_requests, write_sectors, stored_lines;
};

// Blocks of `traces` one after the other, as many at a time as fit.
SimResult simulate_multiprocessor(const BlockTraces& traces, const MultiprocessorRates& rates,
                                  const std::vector<SiteTraffic>& traffic);

}  // namespace coalprof
