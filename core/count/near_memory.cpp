#include "core/count/near_memory.h"

#include <algorithm>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

// L1, where there is one, keeps local memory whatever it does with global loads.
Rules with_local_loads_kept(Rules rules) {
    rules.l1_loads.keeps_ca = rules.l1.splits.front().l1_kib > 0;
    return rules;
}

}  // namespace

void LocalCounts::add(const LocalCounts& other, std::uint64_t times) {
    requests += other.requests * times;
    sectors += other.sectors * times;
}

LocalMemory::LocalMemory(const Rules& rules)
    : word_bytes_(rules.local.interleave_bytes),
      transactions_(with_local_loads_kept(rules), LoadModifier::ca) {}

LocalCounts LocalMemory::count(const WarpAccess& access) const {
    LocalCounts counts;
    if (access.active_lanes == 0) return counts;
    counts.requests = 1;
    const std::uint32_t words = std::max(1u, access.width_bytes / word_bytes_);
    for (std::uint32_t word = 0; word < words; ++word)
        counts.sectors += transactions_.count(interleaved(access, word)).sectors();
    return counts;
}

WarpAccess LocalMemory::interleaved(const WarpAccess& access, std::uint32_t word) const {
    WarpAccess words = access;
    words.space = Space::global;
    words.width_bytes = std::min(access.width_bytes, word_bytes_);
    const std::uint64_t row_bytes = std::uint64_t{warp_lanes} * word_bytes_;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint64_t address = access.addresses[lane];
        words.addresses[lane] = (address / word_bytes_ + word) * row_bytes +
                                std::uint64_t{lane} * word_bytes_ + address % word_bytes_;
    }
    return words;
}

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
