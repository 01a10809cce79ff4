// The demand of a launch on each part of the GPU: the amounts that the model of time divides by
// rates.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/traffic/dram_traffic.h"

namespace coalprof {

// Elements of a thread, at most, in the launches that waiting was fitted to: larger numbers were
// not measured.
inline constexpr std::uint32_t measured_elements = 8;

struct Work {
    double blocks = 0;
    double waves = 0;            // waves of blocks; the last one counts as far as it is full
    double resident_blocks = 1;  // on one multiprocessor; fewer where threads load in rounds
    double busy_share = 1;       // share of multiprocessors with a block
    double warps = 0;
    double issued = 0;           // instructions of warps
    double hashes = 0;           // of warps: a random word for each lane
    double dependent_loads = 0;  // 1 where addresses are loaded
    double per_thread = 1;       // elements
    double load_turns = 1;       // rounds in which a thread loads, for lack of registers
    bool has_branches = false;   // around loads: an element waits for the one before
    bool has_barrier = false;    // threads of a block wait for each other
    double loading_share = 1;    // share of warps with a loading lane
    bool is_flushed = false;     // L2, before the launch
    // The number of times that loads fill all L1s with lines that wait for L2.
    double l1_fills = 0;
    // Bursts of device memory for each L2 sector that loads ask for, 1 at most: for a plain stream
    // 0.5.
    double missing = 0;
    // The same for loads to places that no earlier wave of blocks touched: many of one wave may
    // want a place while it is in flight.
    double arriving = 0;
    double load_lines = 0;
    double hit_passes = 0;  // of L1 hits: through the banks of its data
    double shared_wavefronts = 0;
    double constant_requests = 0;  // an address of a warp each
    double store_lines = 0;
    double leaving_store_lines = 0;  // of these: those that do not merge on their way to L2
    bool stores_at_random = false;   // to random places
    bool stores_same_lines = false;  // neighbouring warps to the same lines
    bool stores_parts = false;       // bytes or 16-bit words
    double l2_read_requests = 0;
    double l2_sectors = 0;
    DramTraffic dram;
    double stores_of_line = 0;  // mean over the stored lines
    // The same for the lines that resident blocks store to, if there are fewer of them.
    double stores_of_busy_line = 0;
    // For stores that all go to few lines, instead of these: the requests for one slice of L2.
    double stores_of_slice = 0;
    double reads_of_slice = 0;   // of the same lines
    double updates_of_line = 0;  // loads and stores, where both go to one array
    // Stores of resident blocks, for each sector that they store to, if the array is loaded as
    // well.
    double updates_at_once = 0;
    double updating_reads = 0;  // share of the read requests to arrays that are stored to
    double reads_of_line = 0;   // the others, mean over the loaded lines
    // The same for the lines that resident blocks load, if there are fewer of them.
    double reads_of_busy_line = 0;
    double reductions = 0;  // sectors of reductions, and of atomics
    double reduced_lines = 0;
};

// Shares are fitted as logarithms of odds, so that sums of them stay between 0 and 1.
inline double share_of_odds(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

}  // namespace coalprof
