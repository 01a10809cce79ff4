// Single warps replayed by the launcher, with their addresses in the kernel's parameters.
#include <cstring>

#include "kernels/launcher_fixture.h"
#include "test_warps.h"

namespace coalprof {
namespace {

class WarpReplay : public LauncherTest {};

TEST_F(WarpReplay, replays_a_warp_with_its_address_bits_kept) {
    WarpArgument seen;
    gpu_.play = [&seen](const FakeLaunch& launch) {
        std::memcpy(&seen, launch.parameters[0], sizeof seen);
    };
    WarpAccess access = spaced_warp(0x7f12'3456'7000, 132);
    access.active_lanes = 0x8000'0001;
    const auto launch = launcher().prepare_warp(access);
    launch->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_load_4");
    EXPECT_EQ(seen.active_lanes, 0x8000'0001u);
    constexpr std::uint64_t low_bits = (1ull << 34) - 1;
    for (const std::uint32_t lane : {0u, 31u}) {
        EXPECT_EQ(seen.address[lane] & low_bits, access.addresses[lane] & low_bits);
        EXPECT_EQ(seen.address[lane],
                  access.addresses[lane] + launch->placement().base_addresses[0]);
    }
    EXPECT_EQ(seen.nothing, 0u);
}

TEST_F(WarpReplay, names_the_kernel_of_a_warp_by_what_it_does) {
    launcher().prepare_warp(spaced_warp(0, 16, 16, all_lanes, AccessKind::store))->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_store_16");
    launcher().prepare_warp(spaced_warp(0, 8, 8, all_lanes, AccessKind::atomic))->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_atomic_8");
    launcher().prepare_warp(spaced_warp(0, 8, 4, all_lanes, AccessKind::reduce))->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_reduce_4");
    WarpAccess shared = spaced_warp(0, 2, 2, all_lanes, AccessKind::store);
    shared.space = Space::shared;
    launcher().prepare_warp(shared)->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_shared_store_2");
}

TEST_F(WarpReplay, gives_a_block_the_shared_memory_that_its_warp_touches) {
    std::uint32_t shared_bytes = 0;
    gpu_.play = [&](const FakeLaunch& launch) { shared_bytes = launch.shared_bytes; };
    WarpAccess access = spaced_warp(100'000, 4);
    access.space = Space::shared;
    launcher().prepare_warp(access)->launch();
    EXPECT_EQ(shared_bytes, 100'224u);  // up to byte 100128, in steps of 128
    EXPECT_EQ(gpu_.function_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES], 232448);
}

TEST_F(WarpReplay, refuses_warps_that_it_cannot_replay) {
    struct Case {
        const char* why;
        WarpAccess access;
    };
    WarpAccess far = spaced_warp(0, 0);
    far.addresses[31] = 20ull << 30;
    WarpAccess deep = spaced_warp(232'444, 4);
    deep.space = Space::shared;
    WarpAccess crooked = spaced_warp(4, 8, 8);
    WarpAccess constant = spaced_warp(0, 4);
    constant.space = Space::constant;
    WarpAccess shared_atomic = spaced_warp(0, 4, 4, all_lanes, AccessKind::atomic);
    shared_atomic.space = Space::shared;
    const Case cases[] = {
        {"its lanes span 20.0 GiB, and at most 16.0 GiB can be replayed", far},
        {"a block has 232448 bytes", deep},
        {"the address of lane 0, 0x4, is no multiple of 8 bytes", crooked},
        {"no instruction moves 3 bytes", spaced_warp(0, 3, 3)},
        {"no instruction of that kind", spaced_warp(0, 2, 2, all_lanes, AccessKind::atomic)},
        {"no instruction of that kind", constant},
        {"no instruction of that kind", shared_atomic},
    };
    for (const Case& one : cases) {
        const std::string message = message_of([&] { launcher().prepare_warp(one.access); });
        EXPECT_NE(message.find(one.why), std::string::npos) << message;
    }
}

TEST_F(WarpReplay, replays_a_warp_without_an_active_lane) {
    WarpAccess access = spaced_warp(0, 4);
    access.active_lanes = 0;
    EXPECT_NO_THROW(launcher().prepare_warp(access)->launch());
}

}  // namespace
}  // namespace coalprof
