// How fast a GPU is at each thing that a launch asks of it, and how much of its caches a launch can
// count on: data of a board, each with its source. The model of time reads these records; of its
// own it has but what few launches tell.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/machine.h"

namespace coalprof {

// Shares of L2's size, as the device reports it.
struct L2Shares {
    // Bytes of lines between two uses of a place after which 63 % of such places are gone, and how
    // sharply: 1 - exp(-(between / reuse)^reuse_power).
    double reuse = 1.08;
    double reuse_power = 2.4;
    double random_reads = 0.68;   // that hold places drawn by lot: loads
    double random_writes = 0.56;  // and stores, until they are written back
    // That is left to what loads that leave first (ld.cs) bring in: beside stores, and without any
    // where L2 was full of other lines before. From launches of both GPUs, as all of this
    // (docs/measurements/rates.md).
    double leaving = 0.1;
    double leaving_alone = 0.17;
    double dirty = 0.475;         // most that stays dirty when a launch ends
    double dirty_partial = 0.28;  // of sectors written in part
    double streams = 1.1;         // written and read lines together
    double idle_streams = 0.68;   // and where device memory has time to take dirty lines early
    double warm_reads = 0.71;     // a launch before this one: half of it is gone at this footprint
    double warm_slope = 25;
    double kept_behind = 0.44;  // of it what loads that leave first (ld.cs) do not push out, up to
    double most_behind = 2.5;   // this footprint
    double warm_writes = 0.2;   // footprint from which on its write-backs fall into this launch,
    double warm_all_writes = 0.85;  // and where all of them do
};

// Between which an empty launch takes on the hosts that a GPU may be in.
struct StartRange {
    double least_seconds = 0;
    double most_seconds = 0;
};

// Of the whole GPU.
struct Rates {
    double start_seconds = 0;           // of an empty launch, as events see it
    double flushed_start_seconds = 0;   // where L2 was flushed before and something is read
    double blocks_per_second = 0;       // started
    double issued_per_second = 0;       // instructions of warps
    double hashes_per_second = 0;       // random words, of a warp's lanes each
    double latency_seconds = 0;         // of a block whose loads hit L2, from its start to its end
    double dram_latency_seconds = 0;    // more, for each burst an L2 sector (Work::missing)
    double branch_latency_seconds = 0;  // more, where lanes pass a load by
    double store_latency_seconds = 0;   // more, where something is stored
    double dependent_latency_seconds = 0;  // of a load whose address was loaded
    // Of a load that its thread's next element waits for, as behind a branch or a pointer: share of
    // the latency that every further element takes.
    double serial_share = 0;
    double exposed_latency = 0;  // share of latency that no other block hides if there is but one
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
    double scattered = 0;                // how much longer bursts take that come to one place again
    double line_stores_per_second = 0;   // to one line
    double line_updates_per_second = 0;  // loads and stores of one line
    double reductions_per_second = 0;
    double slice_imbalance = 0;  // of reductions on few lines: 1 + x * sqrt(slices / lines)
    double overlap = 0;          // power p: terms add up as (sum of term^p)^(1/p)
    L2Shares l2;
    // Intervals are widened by this power: 1 where launches of this very GPU were measured.
    double doubt = 1;
    // What start_seconds may be on other hosts; narrower where it was measured on this one.
    std::optional<StartRange> starts = {};
};

// Of a start that was measured on the host itself, in one context: others differ by up to 0.16 us
// (docs/measurements/h200/contexts.txt).
StartRange starts_about(double seconds);
// What a flush adds stays as it is.
void set_start(Rates& rates, double seconds);

// A rate as machine files name it.
struct RateInfo {
    std::string_view key;
    std::string_view unit;
    double Rates::*value = nullptr;
};
// All but the shares of L2, in the order of Rates.
std::span<const RateInfo> all_rates();

// Rates of the very GPU that a Machine stands for.
struct MeasuredRates {
    std::string device;  // its name: what Board::name of the Machine points to
    Rates rates;
};

// None where nothing is known of the machine's board, or of any board like it.
std::optional<Rates> rates_of(const Machine& machine);
// Whose rates those of a GPU present are, for people: "h100", "h200, scaled". It has a board.
std::string_view source_of_rates(const Machine& machine);

}  // namespace coalprof
