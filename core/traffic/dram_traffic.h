// Traffic of a launch between L2 and device memory: fetches of what L2 does not hold (any longer),
// write-backs of what it cannot keep, and the reads that complete sectors written in part.
//
// L2 is described by a few shares of its size; rates.h has them with their sources.
#pragma once

#include <vector>

#include "core/machine/rates.h"
#include "core/pattern/plan.h"
#include "core/traffic/reach.h"

namespace coalprof {

// The accesses of the launch to one array.
struct ArrayReach {
    std::uint32_t array = 0;
    std::uint64_t bytes = 0;  // of the array
    double width_bytes = 0;   // of a lane's stores or atomics, on average
    bool is_loaded = false;
    bool is_stored = false;
    bool is_atomic = false;
    bool draws_stores = false;   // places to store to are random
    double whole_share = 0;      // share of a warp's stored sectors of which it stores every byte
    Reach loads;                 // without loads that follow others
    std::vector<double> lags;    // of these: the distance of each in threads
    double longest_lag() const;  // 0: none follows
    Reach stores;
    Reach atomics;
    double lines() const;         // distinct lines of all accesses
    double random_lines() const;  // of these: on arrays with random places
    // True if much of the sectors that are stored to is not stored, or some of them are left open
    // beside others that are stored whole.
    bool is_partial(const Reach& stored) const;
};
std::vector<ArrayReach> reaches_of(const Program& program);
double loaded_once(const std::vector<ArrayReach>& arrays);  // sectors

struct DramInputs {
    double threads = 1;
    double l2_bytes = 0;
    std::uint64_t fetch_bytes = 64;
    bool is_warm = false;            // the same launch before this one left its lines in L2
    bool loads_leave_first = false;  // ld.cs: dirty lines stay instead
    double l2_read_sectors = 0;
    double l2_write_sectors = 0;
    // The share of lines that loads touch whose loads are in flight at the same time.
    double share_in_flight = 0;
    double busy_share = 1;  // share of the launch's time: device memory
};

inline constexpr double burst_bytes = 64;  // the most of one access of device memory

// One direction.
struct DramFlow {
    double bytes = 0;
    double bursts = 0;   // accesses of up to 64 bytes that device memory sees
    double density = 1;  // share of the address range covered by bursts
    double again = 0;    // 0: each place once; 1: mostly places that L2 held before
};
struct DramTraffic {
    DramFlow read;
    DramFlow write;
    double reused_bytes = 0;  // of these: those that depend on how long L2 keeps lines
    // Lines with whole stored sectors and others that a read completes.
    double mixed_lines = 0;
};

DramTraffic dram_traffic(const std::vector<ArrayReach>& arrays, const DramInputs& inputs,
                         const L2Shares& shares);

}  // namespace coalprof
