#include "core/count/shared_atomics.h"

#include <algorithm>
#include <array>

#include "core/access/lane_set.h"

namespace coalprof {

SharedCounts count_shared_atomic(const WarpAccess& access, SharedAtomic sort) {
    if (access.active_lanes == 0) return {};
    constexpr std::uint32_t word_bytes = 4, banks = 32;
    if (sort == SharedAtomic::unknown || access.width_bytes != word_bytes)
        return {.requests = 1, .more = 1};
    LaneSet words;
    std::array<std::uint32_t, banks> passes_of_bank{};
    each_lane(access.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t word = access.addresses[lane] / word_bytes;
        const std::uint32_t known = words.size();
        words.insert(word);
        if (sort != SharedAtomic::by_word || words.size() > known) ++passes_of_bank[word % banks];
    });
    const std::uint32_t times = sort == SharedAtomic::twice ? 2 : 1;
    return {.requests = 1,
            .wavefronts = std::uint64_t{times} * *std::ranges::max_element(passes_of_bank),
            .ideal_wavefronts = times};
}

}  // namespace coalprof
