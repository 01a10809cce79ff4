#include "core/count/shared_atomics.h"

#include <gtest/gtest.h>

#include <functional>

namespace coalprof {
namespace {

std::uint64_t passes_of(SharedAtomic sort, const std::function<std::uint64_t(std::uint64_t)>& word,
                        std::uint32_t lanes = 0xFFFF'FFFF) {
    WarpAccess access{.kind = AccessKind::atomic, .space = Space::shared};
    access.width_bytes = 4;
    access.active_lanes = lanes;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] = 4 * word(lane);
    return count_shared_atomic(access, sort).wavefronts;
}

// As Nsight Compute counted them on an H100: atomicAdd(&s[a], 3), atomicAdd(&s[a], 1), atomicCAS.
TEST(SharedAtomics, take_the_passes_that_an_h100_counted) {
    struct Pattern {
        std::function<std::uint64_t(std::uint64_t)> word;
        std::uint64_t by_lane, by_word, twice;
    };
    const std::vector<Pattern> patterns{
        {[](auto i) { return i; }, 1, 1, 2},
        {[](auto i) { return i * 8; }, 8, 8, 16},
        {[](auto i) { return i / 4; }, 4, 1, 8},
        {[](auto) { return 0u; }, 32, 1, 64},
        {[](auto i) { return i % 4 * 32; }, 32, 4, 64},
        {[](auto i) { return i / 8 * 32; }, 32, 4, 64},
    };
    for (const Pattern& one : patterns) {
        EXPECT_EQ(passes_of(SharedAtomic::by_lane, one.word), one.by_lane);
        EXPECT_EQ(passes_of(SharedAtomic::by_word, one.word), one.by_word);
        EXPECT_EQ(passes_of(SharedAtomic::twice, one.word), one.twice);
    }
    const auto same = [](std::uint64_t) { return std::uint64_t{0}; };
    EXPECT_EQ(passes_of(SharedAtomic::by_lane, same, 0x1F), 5u);
    EXPECT_EQ(passes_of(SharedAtomic::twice, same, 0x1F), 10u);
}

}  // namespace
}  // namespace coalprof
