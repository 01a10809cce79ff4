#include "core/count/coalescer.h"

#include <gtest/gtest.h>

#include <random>

#include "bench/count_with_sets.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

class RandomWarps {
 public:
    explicit RandomWarps(std::uint64_t seed) : random_(seed) {}

    // Regions from one line to all that 64 bits reach, lanes in any order or rising, with and
    // without idle ones: each way of finding lines is taken often.
    WarpAccess next() {
        WarpAccess access;
        access.width_bytes = 1u << below(5);
        access.kind = access_kinds[below(access_kinds.size())];
        access.active_lanes = below(3) != 0 ? all_lanes : some_lanes();
        const std::uint64_t region = std::uint64_t{128} << below(57);
        const std::uint64_t start = random_() / 2;
        const bool rises = below(4) == 0;
        const std::uint64_t step = below(8) == 0 ? access.width_bytes : below(300);
        for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
            const std::uint64_t place = rises ? lane * step : random_() % region;
            access.addresses[lane] = (start + place) / access.width_bytes * access.width_bytes;
        }
        return access;
    }

 private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    std::uint32_t some_lanes() {
        const auto lanes = static_cast<std::uint32_t>(random_());
        return below(4) == 0 ? lanes | 1
                             : (lanes & static_cast<std::uint32_t>(random_())) | 1u << below(32);
    }

    std::mt19937_64 random_;
};

TEST(Coalescer, counts_loads_as_sets_do) {
    const Rules& rules = *find_machine("h200").rules;
    const Coalescer coalescer(rules);
    RandomWarps warps(12);
    for (unsigned i = 0; i < 30'000 / fewer_cases; ++i) {
        WarpAccess access = warps.next();
        access.kind = AccessKind::load;
        const GlobalCounts counts = coalescer.count(access);
        const bench::ReferenceCounts expected = bench::count_with_sets(access, *rules.tag_banks);
        ASSERT_EQ(counts.sectors, expected.sectors) << i;
        ASSERT_EQ(counts.lines, expected.lines) << i;
        ASSERT_EQ(counts.unique_bytes, expected.unique_bytes) << i;
        if (counts.tag_doubts != 0) continue;  // lines in several windows of the hash
        ASSERT_EQ(counts.tag_wavefronts, expected.tag_wavefronts) << i;
        ASSERT_EQ(counts.data_wavefronts, expected.data_wavefronts) << i;
    }
}

}  // namespace
}  // namespace coalprof
