// A sample of a launch's blocks, replayed in the order in which multiprocessors take them, through
// the L1 of one of them: the launch's loads that hit L1, and requests of neighbouring warps for one
// line.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/sim/launch_order.h"

namespace coalprof {

// Sums over the sample, of loads or of stores.
struct ReplayedKind {
    double sectors = 0;      // of all warps
    double hit_sectors = 0;  // those that L1 held
    double requests = 0;     // lines with a sector that L1 did not hold
    double line_again = 0;   // of these: the last request for the line may still be in flight
    double first_again = 0;  // of these: in blocks that started with the launch
    double block_again = 0;  // of line_again: by the same block
    double fours_again = 0;  // of block_again: by warps of other groups of four
    // Sum over block_again: log2 of the distance in warps, rounded down; 0 for the same warp.
    double apart_again = 0;
    double warp_again = 0;     // of line_again: by the same warp, for the same element
    double line_together = 0;  // of these: where both warps had waited for the same loads
    double sector_again = 0;   // sectors in common with the last request
    bool is_branched = false;  // some lanes skip the instruction
    // For some neighbouring blocks: sectors of their warps, each sector once for each block, and
    // those of them that another one of the blocks touches as well.
    double compared_sectors = 0;
    double block_sectors = 0;
    double shared_sectors = 0;
    // Sectors of one request for a line, with those of others that merged with it.
    double sectors_of_request() const { return (sectors - sector_again) / (requests - line_again); }
    // Repeats the counts since `before` `times` times. None of the repeated blocks starts with the
    // launch.
    void go_on_since(const ReplayedKind& before, double times);
};

// The share of all warps' requests and sectors that leave for L2.
struct LeavingShare {
    double requests = 1;
    double sectors = 1;
};

struct Replayed {
    ReplayedKind loads;
    ReplayedKind stores;
    // For stores, where nothing is loaded, few lines are stored to or neighbours store to the same
    // lines.
    LeavingShare leaving;
    bool stores_same_lines = false;  // neighbouring warps store to the same lines
    // Stores of more lines than aligned and misaligned runs touch take so long that requests pile
    // up before L2, and merge while they wait.
    bool stores_pile_up = false;
    double least_leaving = 0;   // of their requests: those that need not wait
    bool few_stored = false;    // all stored lines wait at the same time
    double lines_of_store = 0;  // lines of a store, by element of a warp
    // All stores, and all loads, go to these lines of one array at random; 0 where they do not.
    double gathered_lines = 0;
    double gathered_reads = 1;     // share of these loads' requests that leave
    double instructions = 0;       // of an element, whatever they do
    double pointer_loads = 0;      // of these: loads whose result is an address
    double load_instructions = 0;  // of these: loads of global memory, of pointers as well
    bool loads_pointers_only = false;
    double index_instructions = 0;  // of a warp's element, about
    bool is_near = true;   // blocks share almost nothing: a few of them represent the whole launch
    bool divides = false;  // for an index; divides(Formula)
    std::uint32_t element_bytes = 0;  // of a lane, at most; without pointers
    double started_together = 1;      // share of blocks that an idle GPU can hold
    double blocks_of_processor = 1;   // that start together on one multiprocessor
    double busy_share = 1;            // share of multiprocessors with a block
    // Two multiprocessors share a path to L2, and fetched instructions.
    bool has_way_to_itself() const { return busy_share <= 0.5; }
    // The share of blocks that run in step with others that started with the launch: in the first
    // two waves, where a multiprocessor has more than one block.
    double at_once() const {
        return std::min(1.0, 2 * started_together) * std::min(1.0, blocks_of_processor - 1);
    }
};

// For the global-memory loads and stores of `program`; atomics bypass L1.
Replayed replay_blocks(const Program& program, const LaunchOrder& order,
                       const Multiprocessor& multiprocessor);

}  // namespace coalprof
