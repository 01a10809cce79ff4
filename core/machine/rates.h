// The rates of a GPU for each thing that a launch asks of it, and the share of its caches that a
// launch can use: data of a board, each with its source (chips/). The model of time reads these
// records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/machine.h"
#include "core/machine/sim_rates.h"

namespace coalprof {

// Slices of L2; a hash distributes lines among them. Their number is not published for GH100; it
// only sets the scale of Rates::slice_imbalance.
inline constexpr double l2_slices = 96;
// The number of slices that neighbouring lines lie in: 1, 2, 4 and 8 for 1, 4, 16 and 32 of them.
// From the rate at which L2 of a GH100 takes stores to them (tests/data/h100/gathered.jsonl.gz).
constexpr double slices_of(double lines) {
    return lines < 4 ? 1 : lines < 16 ? 2 : lines < 32 ? 4 : 8;
}

// Shares of L2's size, as the device reports it.
struct L2Shares {
    // Bytes of lines between two uses of a place after which 63 % of such places are evicted, and
    // the steepness: 1 - exp(-(between / reuse)^reuse_power).
    double reuse = 0;
    double reuse_power = 0;
    double random_reads = 0;   // that hold random places: loads
    double random_writes = 0;  // and stores, until they are written back
    // Left for the lines of evict-first loads (ld.cs): beside stores, and without any where L2 was
    // full of other lines before.
    double leaving = 0;
    double leaving_alone = 0;
    double dirty = 0;          // most that stays dirty when a launch ends
    double dirty_partial = 0;  // of sectors written in part
    double streams = 0;        // written and read lines together
    double idle_streams = 0;   // and where device memory has time to take dirty lines early
    double warm_reads = 0;     // of the launch before: half of it is evicted at this footprint
    double warm_slope = 0;
    double kept_behind = 0;      // of it the part that evict-first loads do not evict, up to
    double most_behind = 0;      // this footprint
    double warm_writes = 0;      // footprint from which on its write-backs come in this launch,
    double warm_all_writes = 0;  // and where all of them do
};

// The range of an empty launch's time over the hosts that a GPU may be in.
struct StartRange {
    double least_seconds = 0;
    double most_seconds = 0;
};

// Rates of the whole GPU.
struct Rates {
    double start_seconds = 0;           // of an empty launch, as events see it
    double flushed_start_seconds = 0;   // after a flush of L2, if something is read
    double blocks_per_second = 0;       // started
    double issued_per_second = 0;       // instructions of warps
    double hashes_per_second = 0;       // random words, of a warp's lanes each
    double latency_seconds = 0;         // of a block whose loads hit L2, from its start to its end
    double dram_latency_seconds = 0;    // more, for each burst an L2 sector (Work::missing)
    double branch_latency_seconds = 0;  // more, where lanes skip a load
    double store_latency_seconds = 0;   // more, where something is stored
    double dependent_latency_seconds = 0;  // of a load whose address was loaded
    // For a load that its thread's next element waits for, as after a branch or a pointer: share of
    // the latency that every further element takes.
    double serial_share = 0;
    double exposed_latency = 0;  // share of latency that is exposed if there is no other block
    double l1_lines_per_second = 0;
    double shared_wavefronts_per_second = 0;
    double constant_requests_per_second = 0;
    double l2_read_requests_per_second = 0;
    double l2_write_requests_per_second = 0;
    double l2_sectors_per_second = 0;
    double dram_read_bursts_per_second = 0;  // of up to 64 bytes, side by side
    double dram_write_bursts_per_second = 0;
    double read_sparseness = 0;  // powers: bursts take 1 / density^power as long
    double write_sparseness = 0;
    double scattered = 0;                   // slow-down of bursts that come to one place again
    double line_stores_per_second = 0;      // to one line
    double line_updates_per_second = 0;     // loads and stores of one line
    double line_reads_per_second = 0;       // of one line
    double line_reductions_per_second = 0;  // sectors of them, of one line
    double busy_line_reads_per_second = 0;  // of one line with many loads in flight
    double slice_stores_per_second = 0;     // of whole lines, to one slice of L2
    double slice_reads_per_second = 0;      // of places that are stored to
    // Lines with whole sectors and open ones, which a read completes, are written one at a time.
    double mixed_lines_per_second = 0;
    double barrier_latency_seconds =
        0;                            // more, where all warps of a block wait for its slowest load
    double word_latency_seconds = 0;  // of random words, before the first load
    double reductions_per_second = 0;
    double slice_imbalance = 0;  // of reductions on few lines: 1 + x * sqrt(slices / lines)
    double overlap = 0;          // power p: terms add up as (sum of term^p)^(1/p)
    L2Shares l2;
    SimRates sim;  // of the simulation of kernels
    // The readings of `coalprof calibrate` on a GPU with these rates; 0: equal to `sim`. The others
    // were fitted to whole kernels, and keep their ratio to the readings on another GPU.
    SimRates sim_read;
    // Intervals of times, and of the counters that caches decide, are widened by this power: 1
    // where launches of this very GPU were measured.
    double doubt = 1;
    double cache_doubt = 1;
    // The range of start_seconds on other hosts; narrower where it was measured on this one.
    std::optional<StartRange> starts = {};
};

// For a start that was measured on the host itself, in one context: others differ by up to 0.16 us
// (docs/measurements/h200/contexts.txt).
StartRange starts_about(double seconds);
// The time that a flush adds stays the same.
void set_start(Rates& rates, double seconds);

// How a rate of one board is scaled to another one.
enum class Scaling : std::uint8_t { none, by_multiprocessors, by_bandwidth };

// A rate by its name in machine files.
struct RateInfo {
    std::string_view key;
    std::string_view unit;
    double Rates::*value = nullptr;
    Scaling scaling = Scaling::none;
    bool is_calibrated = true;  // `coalprof calibrate` measures it
};
// All but the shares of L2, in the order of Rates.
std::span<const RateInfo> all_rates();

// A rate of the simulation by its name in machine files.
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
