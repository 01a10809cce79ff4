// Long loops of the host over several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace coalprof {

// Calls work(first, last) for parts that together are [0, count), each once, at the same time as
// far as the machine has processors, and returns when all are done. A short loop stays one part;
// parts start at a warp's lane 0 where indices are of threads (multiples of 32).
// `work` must not throw.
void in_parallel(std::uint64_t count,
                 const std::function<void(std::uint64_t first, std::uint64_t last)>& work);

}  // namespace coalprof
