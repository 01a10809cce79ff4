// The requests of a whole launch to L2: loads that L1 does not answer, and stores.
#pragma once

#include "core/machine/machine.h"
#include "core/result/reading.h"
#include "core/traffic/block_replay.h"

namespace coalprof {

struct CacheTraffic {
    double l1_hit_sectors = 0;
    double l2_read_sectors = 0;
    double l2_read_requests = 0;
    double l2_write_sectors = 0;
    double l2_write_requests = 0;
    // Sectors of stores that merged with others on the way there.
    double joined_write_sectors = 0;
    double joined_write_requests = 0;
    bool is_near = true;             // Replayed::is_near
    double gathered_lines = 0;       // Replayed::gathered_lines
    bool stores_same_lines = false;  // Replayed::stores_same_lines
};

// Properties of a launch's loads that the replay of some blocks does not give.
struct Loading {
    bool keeps_loads = true;  // in L1
    bool is_warm = false;     // L2: a launch of the kernel came before this one, and no flush
    double sectors_once = 0;  // distinct loaded sectors
};

// `readings` hold the exact sectors of all warps.
CacheTraffic cache_traffic(const Readings& readings, const Replayed& replayed,
                           const LaunchOrder& order, const Loading& loading);

}  // namespace coalprof
