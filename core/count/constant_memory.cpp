#include "core/count/constant_memory.h"

#include "core/access/lane_set.h"

namespace coalprof {

void ConstantCounts::add(const ConstantCounts& other, std::uint64_t times) {
    requests += other.requests * times;
}

ConstantCounts ConstantMemory::count(const WarpAccess& access) const {
    ConstantCounts counts;
    each_group(access.active_lanes, rules_.request_lanes,
               [&](std::uint32_t lanes) { counts.requests += distinct_blocks(access, lanes, 0); });
    counts.requests *= rules_.instructions(access.width_bytes);
    return counts;
}

}  // namespace coalprof
