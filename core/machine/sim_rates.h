// Rates of the parts of a GPU for the simulation of launches (core/sim): data of a chip, each with
// its source (chips/). A launch's share of L2 is one of them.
#pragma once

namespace coalprof {

struct SimRates {
    double clock_hertz = 0;     // clock of the multiprocessors under load
    double start_seconds = 0;   // an empty launch without the host's part
    double launch_seconds = 0;  // an empty launch between two events, the host's part included
    double flush_seconds = 0;   // more, after a flush of L2

    // Rates of the whole GPU.
    double blocks_per_second = 0;           // that start
    double read_requests_per_second = 0;    // lines, from L1 to L2
    double sectors_per_second = 0;          // sectors between L1 and L2
    double write_requests_per_second = 0;   // lines
    double write_sectors_per_second = 0;    // whole or in part
    double reductions_per_second = 0;       // sectors of atomics
    double line_reductions_per_second = 0;  // those of one slice of L2
    double dram_read_bytes_per_second = 0;
    double dram_write_bytes_per_second = 0;
    double dram_rows_per_second = 0;  // activated, each for dram_row_lines (core/sim)
    // Lines, in part or whole, that are written back among reads: more than their activation.
    double dram_turns_per_second = 0;

    // Cycles of a multiprocessor.
    double first_block_latency = 0;  // from the start of a launch's first block to its instructions
    double block_latency = 0;        // the same for a later block
    double dependent_issue = 0;      // time between two instructions of a warp
    double l1_pass = 0;              // a pass through the tags and banks of L1
    double shared_pass = 0;
    double shared_latency = 0;
    double l1_latency = 0;
    double l2_latency = 0;
    double dram_latency = 0;  // more
    double crowd = 0;         // more, times b / sqrt(1 - b) of device memory that is busy for b
    double write_crowd = 0;   // likewise, where it writes all of this time
    double l1_queue = 0;      // of accesses that wait for L1
    double l2_queue = 0;      // of requests that wait for L2
    double join_cycles = 0;   // requests for a line join within this time
    double between_schedulers = 0;  // whose warps start
    double least_request = 0;       // a line's time between one multiprocessor and L2
    double least_sector = 0;        // a sector's time between them

    // Shares of L2's size.
    double l2_share = 0;       // that a launch can use alone
    double dirty_share = 0;    // lines of which something stays dirty
    double partial_share = 0;  // lines that are written in part and wait for the rest
};

}  // namespace coalprof
