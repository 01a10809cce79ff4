#include "kernels/memory.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "kernels/fake_driver.h"
#include "kernels/gpu.h"
#include "kernels/plans.h"
#include "kernels/warp_launch.h"

namespace coalprof {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

class Memory : public testing::Test {
 protected:
    void start() {
        device_ = std::make_unique<Gpu>(FakeGpu::driver(), 0);
        shop_ = std::make_unique<KernelShop>(*device_, compiler_);
    }
    const Gpu& device() const { return *device_; }
    KernelShop& shop() { return *shop_; }

    Script script_;
    FakeGpu gpu_;
    Compiler compiler_{FakeGpu::nvrtc(), 90};
    std::unique_ptr<Gpu> device_;
    std::unique_ptr<KernelShop> shop_;
};

TEST_F(Memory, aligns_each_array_far_above_its_size) {
    start();
    Arena arena(shop());
    const std::array<std::uint64_t, 2> sizes{5 * mebibyte, 100};
    arena.fit(sizes);
    for (std::size_t k = 0; k < 2; ++k)
        EXPECT_EQ(arena.address(k) % (8 * mebibyte), 0u);  // at least the next power of two
    EXPECT_NE(arena.address(0), arena.address(1));
}

TEST_F(Memory, aligns_by_itself_where_the_driver_does_not) {
    gpu_.aligns_reservations = false;
    start();
    Arena arena(shop());
    const std::array<std::uint64_t, 1> sizes{5 * mebibyte};
    arena.fit(sizes);
    EXPECT_EQ(arena.address(0) % (8 * mebibyte), 0u);
    EXPECT_EQ(gpu_.reservations, 1);  // what was tried first is given back
}

// Nothing helps then, and a second try would hide why.
TEST_F(Memory, is_not_reserved_anew_on_a_gpu_that_is_lost) {
    start();
    script_.fail_call = script_.calls() + 1;
    script_.fail_code = CUDA_ERROR_ILLEGAL_ADDRESS;
    EXPECT_THROW(MappedRange(device(), 2 * mebibyte), DeviceLostError);
    EXPECT_EQ(script_.failed_call(), "cuMemAddressReserve");
}

TEST_F(Memory, that_no_address_reaches_is_refused) {
    start();
    Arena arena(shop());
    for (const std::uint64_t bytes : {(std::uint64_t{1} << 46) + 1, ~std::uint64_t{0}})
        EXPECT_NE(message_of([&] { arena.fit(std::array{bytes}); }), "no PointError");
}

TEST_F(Memory, stays_where_it_is_while_points_need_no_more) {
    start();
    Arena arena(shop());
    arena.fit(std::array<std::uint64_t, 1>{4 * mebibyte});
    const CUdeviceptr address = arena.address(0);
    const std::uint64_t calls = script_.calls();
    arena.fit(std::array<std::uint64_t, 1>{3 * mebibyte});
    EXPECT_EQ(script_.calls(), calls) << "nothing is allocated, nothing asked";
    arena.fit(std::array<std::uint64_t, 1>{9 * mebibyte});  // grows in place
    EXPECT_EQ(arena.address(0), address);
    EXPECT_EQ(arena.held_bytes(), 10 * mebibyte);  // whole pages of 2 MiB
}

TEST_F(Memory, that_is_not_there_is_refused_with_both_numbers_before_anything_is_allocated) {
    start();
    Arena arena(shop());
    const int handles = gpu_.handles;
    const std::string message = message_of([&] {
        arena.fit(std::array<std::uint64_t, 2>{300 * mebibyte, 300 * mebibyte});
    });
    EXPECT_EQ(gpu_.handles, handles);
    EXPECT_EQ(message,
              "not enough GPU memory for the arrays of this point: needs 600 MiB, 512 MiB "
              "free");
}

TEST_F(Memory, of_an_earlier_point_stays_where_giving_it_back_would_not_do) {
    start();
    Arena arena(shop());
    arena.fit(std::array<std::uint64_t, 1>{200 * mebibyte});
    // 512 MiB in all: neither with nor without the 200.
    EXPECT_NE(message_of([&] { arena.fit(std::array<std::uint64_t, 1>{600 * mebibyte}); }),
              "no PointError");
    EXPECT_EQ(arena.held_bytes(), 200 * mebibyte);
}

TEST_F(Memory, of_an_earlier_point_is_given_back_where_a_later_one_needs_it) {
    start();
    Arena arena(shop());
    arena.fit(std::array<std::uint64_t, 2>{200 * mebibyte, 200 * mebibyte});
    // 450 MiB in one array fit only when both are given back.
    arena.fit(std::array<std::uint64_t, 1>{450 * mebibyte});
    EXPECT_EQ(arena.held_bytes(), 450 * mebibyte);
}

TEST_F(Memory, comes_from_plain_allocations_where_the_device_cannot_map) {
    gpu_.can_map = false;
    start();
    Arena arena(shop());
    arena.fit(std::array<std::uint64_t, 1>{5 * mebibyte});
    EXPECT_EQ(gpu_.handles, 0);
    EXPECT_NE(arena.address(0), 0u);
}

// The driver gives managed memory beyond what the GPU has, and memory of the host until the system
// ends somebody: neither is asked for.
TEST_F(Memory, of_a_buffer_is_not_asked_for_where_it_is_not_free) {
    start();
    EXPECT_EQ(message_of([&] { Buffer(device(), 600 * mebibyte, "a test", BufferKind::managed); }),
              "not enough GPU memory for a test: needs 600 MiB, 512 MiB free");
    EXPECT_NE(message_of([&] {
                  Buffer(device(), 1ull << 46, "a test", BufferKind::host);
              }).find("not enough host memory for a test: needs 64 TiB"),
              std::string::npos);
    EXPECT_EQ(gpu_.managed, 0);
    EXPECT_EQ(gpu_.host_allocations, 0);
}

TEST_F(Memory, is_all_given_back) {
    {
        start();
        Arena arena(shop());
        arena.fit(std::array<std::uint64_t, 2>{5 * mebibyte, 7 * mebibyte});
        arena.fit(std::array<std::uint64_t, 2>{50 * mebibyte, 70 * mebibyte});
        Buffer buffer(device(), 1000, "a test");
    }
    shop_.reset();
    device_.reset();
    EXPECT_EQ(gpu_.live(), 0);
    EXPECT_EQ(gpu_.used_bytes, 0u);
}

TEST_F(Memory, of_replayed_warps_is_mapped_where_a_warp_touches_it) {
    start();
    WarpMemory memory(device());
    EXPECT_EQ(memory.base() % (1ull << 34), 0u);  // bits that decide about tag banks stay
    EXPECT_EQ(gpu_.handles, 0);
    memory.touch(100, 104);
    EXPECT_EQ(gpu_.handles, 1);
    memory.touch(200, 204);
    EXPECT_EQ(gpu_.handles, 1);
    memory.touch((1ull << 34) - 2, (1ull << 34) + 2);  // two chunks
    EXPECT_EQ(gpu_.mappings, 3);
}

TEST_F(Memory, of_replayed_warps_that_is_not_there_is_refused_with_both_numbers) {
    gpu_.memory_bytes = 32 * mebibyte;
    start();
    WarpMemory memory(device());
    EXPECT_EQ(message_of([&] { memory.touch(0, 4); }),
              "not enough GPU memory for the warps to replay: needs 64 MiB, 32 MiB free");
}

TEST_F(Memory, of_replayed_warps_is_shared_when_it_runs_short) {
    start();
    WarpMemory memory(device());
    // Chunks of 64 MiB on a GPU of 512 MiB, of which three quarters stay free: two are made, and
    // serve all places.
    for (std::uint64_t chunk = 0; chunk < 32; ++chunk) memory.touch(chunk << 30, (chunk << 30) + 4);
    EXPECT_EQ(gpu_.mappings, 32);
    EXPECT_LT(gpu_.used_bytes, 300 * mebibyte);
    memory.touch(0, 4);
    EXPECT_EQ(gpu_.mappings, 32);
}

}  // namespace
}  // namespace coalprof
