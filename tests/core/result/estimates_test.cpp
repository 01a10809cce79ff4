#include "core/result/estimates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

// What caches and time make of a launch depends on more than its addresses; all else is counted.
TEST(Estimate, may_be_what_caches_and_time_decide_and_nothing_else) {
    constexpr std::array estimated{
        Counter::l1_hit_sectors,    Counter::l2_read_requests, Counter::l2_read_sectors,
        Counter::l2_write_requests, Counter::l2_write_sectors, Counter::dram_read_bytes,
        Counter::dram_write_bytes,  Counter::duration_seconds, Counter::bandwidth_bytes_per_second};
    for (const CounterInfo& row : all_counters())
        EXPECT_EQ(may_be_estimated(row.counter),
                  std::ranges::find(estimated, row.counter) != estimated.end())
            << row.key;
}

TEST(Limit, is_found_by_its_name) {
    for (std::size_t i = 0; i < limit_count; ++i) {
        const auto limit = static_cast<Limit>(i);
        EXPECT_EQ(find_limit(name_of(limit)), limit);
        EXPECT_FALSE(phrase_of(limit).empty());
    }
    EXPECT_FALSE(find_limit("speed"));
}

}  // namespace
}  // namespace coalprof
