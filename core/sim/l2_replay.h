// L2 and device memory while a sample of a launch's accesses is replayed: a hash table of lines in
// the order of their use, as large as L2, decides what comes from device memory and what is written
// back.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/sim/l2_sample.h"

namespace coalprof {

using Ages = std::array<double, 29>;

// Traffic of device memory. The time of its transfers is in bytes of a long run that take as long.
struct L2Traffic {
    double read_bytes = 0;
    double write_bytes = 0;
    double dirty_bytes = 0;                  // of these, those that L2 still has at the end
    std::vector<double> read_bytes_of_site;  // by Code::sites
    std::vector<double> write_bytes_of_site;
    std::vector<double> read_time_of_site;
    std::vector<double> write_time_of_site;
    std::vector<double> turn_time_of_site;  // in it, or to be added, where reads come between
    std::vector<double> sectors_of_site;    // that warps ask for
    // Those that their multiprocessor loaded before, by age: bits of the number of accesses since.
    std::vector<Ages> repeats_of_site;
};
struct L2Sizes {
    double bytes = 0;
    double most_dirty_bytes = 0;    // of lines, however much of each is dirty
    double most_partial_bytes = 0;  // of lines that are to be completed by a read
    std::uint32_t fetch_bytes = 64;
    // Bytes that device memory reads or writes in a long run while it activates one row.
    double read_row_bytes = 0;
    double write_row_bytes = 0;
    double turn_bytes = 0;  // likewise, while it turns from reads to the write of a line
    bool is_warm = false;   // the same launch came before
    std::uint32_t multiprocessors = 1;
    // By site: the share of repeats that L1 answers, so that they do not reach L2; empty: none.
    std::vector<Ages> kept_by_l1 = {};
};
L2Traffic replay_l2(L2Sample& sample, const L2Sizes& sizes, std::size_t sites);

}  // namespace coalprof
