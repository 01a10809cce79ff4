#include "core/count/constant_memory.h"

#include <gtest/gtest.h>

#include "core/machine/machine.h"

namespace coalprof {
namespace {

// Lane n reads word n % distinct.
WarpAccess words_of(std::uint64_t distinct) {
    WarpAccess access;
    access.space = Space::constant;
    access.active_lanes = all_lanes;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = lane % distinct * 4;
    return access;
}

std::uint64_t requests(std::string_view machine, const WarpAccess& access) {
    return ConstantMemory(*find_machine(machine).rules).count(access).requests;
}

TEST(ConstantMemory, takes_one_pass_per_distinct_address) {
    for (const std::uint64_t k : {1u, 2u, 5u, 16u, 32u})
        EXPECT_EQ(requests("h200", words_of(k)), k) << k;
}

// 1.x splits the warp into half-warps first: each has min(k, 16) addresses of its own.
TEST(ConstantMemory, of_tesla_is_read_by_half_warps) {
    EXPECT_EQ(requests("c870", words_of(1)), 2u);
    EXPECT_EQ(requests("c1060", words_of(4)), 8u);
    EXPECT_EQ(requests("c1060", words_of(32)), 32u);
}

TEST(ConstantMemory, does_not_ask_for_inactive_lanes) {
    WarpAccess access = words_of(32);
    access.active_lanes = 0b1011;
    EXPECT_EQ(requests("h200", access), 3u);
    access.active_lanes = 0;
    EXPECT_EQ(requests("h200", access), 0u);
}

TEST(ConstantMemory, counts_addresses_in_any_order) {
    WarpAccess access = words_of(32);
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = (lane * 7 + 3) % 5 * 64;
    EXPECT_EQ(requests("h200", access), 5u);
}

// 16 bytes are two loads of 8 (two LDC.64 in the code of ptxas 13.0, 7.5 to 12.1).
TEST(ConstantMemory, takes_two_loads_for_16_bytes) {
    WarpAccess access = words_of(4);
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] *= 4;
    access.width_bytes = 8;
    EXPECT_EQ(requests("h200", access), 4u);
    access.width_bytes = 16;
    EXPECT_EQ(requests("h200", access), 8u);
}

}  // namespace
}  // namespace coalprof
