#include "core/machine/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/machine/machine.h"

namespace coalprof {
namespace {

const Rules& rules_of(std::string_view name) { return *find_machine(name).rules; }

TEST(Rules, every_record_says_where_each_part_comes_from) {
    for (const Rules& rules : all_rules()) {
        const std::string cc = text_of(rules.cc);
        EXPECT_FALSE(rules.family.empty()) << cc;
        EXPECT_FALSE(text_of(rules.global).empty()) << cc;
        EXPECT_FALSE(rules.source.empty()) << cc;
        EXPECT_FALSE(rules.shared.source.empty()) << cc;
        EXPECT_FALSE(rules.constant.source.empty()) << cc;
        EXPECT_FALSE(rules.local.source.empty()) << cc;
        EXPECT_FALSE(rules.l1.source.empty()) << cc;
        EXPECT_FALSE(rules.occupancy.source.empty()) << cc;
        EXPECT_FALSE(rules.memory.source.empty()) << cc;
        EXPECT_FALSE(rules.memory.sustained_source.empty()) << cc;
    }
}

TEST(Rules, what_no_measurement_backs_is_called_documented) {
    EXPECT_EQ(text_of(rules_of("c870").evidence), "rules documented, not measured");
    EXPECT_EQ(text_of(rules_of("h200").evidence), "rules measured");
    EXPECT_EQ(text_of(rules_of("h200").constant.evidence), "rules documented, not measured");
}

// A Titan V and a V100 were measured by others; of the Volta of Xavier nothing was published.
TEST(Rules, of_volta_are_published_for_7_0_alone) {
    const Rules& v100 = rules_of("v100");
    EXPECT_EQ(v100.evidence, Evidence::published);
    EXPECT_EQ(v100.memory.evidence, Evidence::published);
    EXPECT_EQ(v100.memory.fill_bytes, 64u);
    const auto xavier = std::ranges::find(all_rules(), ComputeCapability{7, 2}, &Rules::cc);
    ASSERT_NE(xavier, all_rules().end());
    EXPECT_EQ(xavier->evidence, Evidence::documented);
    EXPECT_EQ(xavier->memory.evidence, Evidence::documented);
    EXPECT_EQ(xavier->memory.fill_bytes, 32u);
}

TEST(Rules, hold_together) {
    for (const Rules& rules : all_rules()) {
        const std::string cc = text_of(rules.cc);
        const OccupancyLimits& limits = rules.occupancy;
        EXPECT_EQ(limits.threads % 32, 0u) << cc;
        EXPECT_LE(limits.threads_per_block, limits.threads) << cc;
        EXPECT_LE(limits.registers_per_block, limits.registers) << cc;
        EXPECT_LE(limits.shared_bytes_per_block + limits.shared_reserved_bytes, limits.shared_bytes)
            << cc;
        // The largest split is the shared memory that occupancy may use.
        EXPECT_EQ(rules.l1.splits.back().shared_kib * 1024, limits.shared_bytes) << cc;
        // An L1 that keeps loads exists.
        if (rules.l1_loads.by_default) {
            EXPECT_TRUE(rules.l1_loads.keeps_ca) << cc;
            EXPECT_GT(rules.l1.splits.front().l1_kib, 0u) << cc;
        }
    }
}

// 2.x: 48/16 or 16/48. 3.x: also 32/32. 3.7: 64 KiB more shared memory each. hardware: the CUDA C
// Programming Guide's words on cudaFuncSetCacheConfig.
TEST(L1Split, follows_the_cache_preference_on_fermi_and_kepler) {
    const auto shared = [](std::string_view machine, std::uint32_t percent) {
        return l1_split(rules_of(machine).l1, percent).shared_kib;
    };
    EXPECT_EQ(shared("c2050", 0), 16u);
    EXPECT_EQ(shared("c2050", 100), 48u);
    EXPECT_EQ(shared("k40", 0), 16u);
    EXPECT_EQ(shared("k40", 50), 32u);
    EXPECT_EQ(shared("k80", 0), 80u);
    EXPECT_EQ(shared("k80", 50), 96u);
    EXPECT_EQ(l1_split(rules_of("c2050").l1, {}).l1_kib, 16u);
}

// 9.0 offers 0 8 16 32 64 100 132 164 196 228 of 256 KiB; 50 % of 228 is 114, so 132.
TEST(L1Split, rounds_a_carveout_up_to_one_that_exists) {
    const L1Rules& hopper = rules_of("h200").l1;
    EXPECT_EQ(l1_split(hopper, 0).l1_kib, 256u);
    EXPECT_EQ(l1_split(hopper, 50).shared_kib, 132u);
    EXPECT_EQ(l1_split(hopper, 50).l1_kib, 124u);
    EXPECT_EQ(l1_split(hopper, 100).shared_kib, 228u);
    EXPECT_EQ(l1_split(rules_of("t4").l1, 0).shared_kib, 32u);
    EXPECT_EQ(l1_split(rules_of("t4").l1, 51).shared_kib, 64u);
    EXPECT_EQ(l1_split(rules_of("c870").l1, 0).l1_kib, 0u);
}

}  // namespace
}  // namespace coalprof
