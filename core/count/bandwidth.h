// Predicted bandwidth: the share of device-memory traffic that is useful, times the share of its
// peak that the board sustains. An estimate for launches that L2 cannot hold and whose time device
// memory decides: a kernel with many loads in flight comes close to it, and a kernel with few stays
// below it. The traffic rules are hardware's, the fraction is stated with its source. Other
// launches (that fit in L2, that reuse what caches may still hold, with atomics) are Unavailable.
#pragma once

#include <cstdint>
#include <variant>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"

namespace coalprof {

// Traffic between the multiprocessors and device memory, over a whole launch.
struct Traffic {
    std::uint64_t useful_bytes = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
    // Different bytes among them: those that a cache would have to hold. 0 without caches.
    std::uint64_t footprint_bytes = 0;
    double efficiency() const {
        return static_cast<double>(useful_bytes) / static_cast<double>(read_bytes + write_bytes);
    }
};

// The traffic of the program's loads and stores of global memory. Shared memory beside it does not
// matter as long as it has no bank conflicts.
// - without caches (1.x) every transaction of every half-warp counts;
// - with them each block is fetched once and each sector written once, however many warps share it:
//   loads fetch lines where L1 keeps them (2.x), else L2's fetches from device memory.
std::variant<Traffic, Unavailable> predict_traffic(const Rules& rules, const Program& program,
                                                   const CachePolicy& cache);

// The bytes that L2 fetches from device memory at a time.
std::uint32_t l2_fill_bytes(const Rules& rules, const CachePolicy& cache);

// Useful bytes per second: efficiency x sustained fraction x peak of the machine's board. Holds a
// double or Unavailable: no board, no traffic, or a footprint that its L2 holds.
Reading predict_bandwidth(const Machine& machine, const Traffic& traffic);
// Both steps in one: the reading of bandwidth_bytes_per_second that a prediction carries.
Reading predict_bandwidth(const Machine& machine, const Program& program, const CachePolicy& cache);

}  // namespace coalprof
