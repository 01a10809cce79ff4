// The launcher on a real GPU: data right after every pattern, errors found where there are some.
// Skipped with the reason where there is no GPU.
#include "kernels/launcher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "gpu/on_gpu.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

class OnGpu : public GpuTest {
 protected:
    // Writes into device memory behind the launcher's back.
    static void overwrite(std::uint64_t address, const void* bytes, std::size_t count) {
        const DriverLibrary library = load_driver();
        ASSERT_EQ(library.api->copy_to_device(address, bytes, count), CUDA_SUCCESS);
    }
};

TEST_F(OnGpu, data_are_right_after_every_pattern_op_and_type) {
    constexpr std::array types{ElementType::u8,    ElementType::u16,  ElementType::u32,
                               ElementType::u64,   ElementType::f32,  ElementType::f64,
                               ElementType::f32x2, ElementType::f32x4};
    std::size_t turn = 0;
    for (const PatternInfo& pattern : global_patterns())
        for (const Op op :
             {Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce})
            for (const ElementType type : types) {
                Plan plan;
                try {
                    plan = plan_of(std::string(pattern.name), usual_value(pattern), op, type,
                                   turn % 3 == 0 ? 4 : 1, 1 << 20);
                } catch (const UsageError&) {
                    continue;  // atomics on bytes, a transpose that is no copy
                }
                ++turn;
                run_and_verify(launcher(), plan);
            }
    EXPECT_GT(turn, 300u);
}

TEST_F(OnGpu, large_arrays_are_verified_where_they_are) {
    for (const Op op : {Op::load, Op::store, Op::rmw, Op::copy, Op::atomic, Op::reduce})
        for (const char* pattern : {"stride", "broadcast", "row", "indirect"})
            run_and_verify(launcher(), plan_of(pattern, pattern[0] == 's' ? 3 : 512, op,
                                               ElementType::f32, 4, 64 << 20));
}

TEST_F(OnGpu, threads_that_are_left_over_touch_nothing) {
    // 1000 threads over: the last block is not whole, with one element a thread and with four.
    for (const std::uint32_t per_thread : {1u, 4u, 16u})
        for (const Op op : {Op::store, Op::rmw, Op::reduce})
            run_and_verify(launcher(), plan_of("offset", 5, op, ElementType::u32, per_thread,
                                               (1 << 20) + 4000));
}

TEST_F(OnGpu, a_wrong_element_is_found_in_small_and_large_arrays) {
    for (const std::uint64_t size_bytes : {1ull << 20, 64ull << 20})
        for (const Op op : {Op::load, Op::rmw, Op::reduce}) {
            // stride 2 touches even elements only: 17 is poison.
            const auto launch =
                launcher().prepare(plan_of("stride", 2, op, ElementType::u32, 1, size_bytes));
            launch->launch();
            const std::uint32_t wrong = 0x0000DEAD;
            overwrite(launch->placement().base_addresses[0] + 17 * 4, &wrong, sizeof wrong);
            const std::string message = message_of([&] { launch->verify(); });
            EXPECT_NE(message.find("array a, element 17: expected 0x"), std::string::npos)
                << message;
            EXPECT_NE(message.find("found 0x0000dead"), std::string::npos) << message;
        }
}

TEST_F(OnGpu, a_kernel_that_loads_something_wrong_says_so) {
    const auto launch = launcher().prepare(plan_of("offset", 0, Op::load));
    const std::uint64_t base = launch->placement().base_addresses[0];
    const std::uint32_t wrong = 0xFFFFFFFF;
    overwrite(base + 4 * 1000, &wrong, sizeof wrong);
    launch->launch();
    // The array is put right again, so that only the kernel has seen it.
    const auto right = launcher().prepare(plan_of("offset", 0, Op::load));
    std::uint32_t value = 0;
    ASSERT_EQ(load_driver().api->copy_to_host(
                  &value, right->placement().base_addresses[0] + 4 * 1000, sizeof value),
              CUDA_SUCCESS);
    overwrite(base + 4 * 1000, &value, sizeof value);
    const std::string message = message_of([&] { launch->verify(); });
    EXPECT_NE(message.find("wrong data in the kernel: thread 1000"), std::string::npos) << message;
}

TEST_F(OnGpu, memory_that_is_not_there_is_refused_and_the_next_point_goes_on) {
    const std::string message = message_of([&] {
        launcher().prepare(plan_of("stride", 4096, Op::load, ElementType::f32, 1, 1ull << 30));
    });
    EXPECT_NE(message.find("needs 4 TiB"), std::string::npos) << message;
    run_and_verify(launcher(), plan_of("stride", 2, Op::load));
}

TEST_F(OnGpu, arrays_lie_at_multiples_of_a_power_of_two_above_their_size) {
    const auto launch = launcher().prepare(plan_of("offset", 1, Op::copy));
    const std::uint64_t bytes = launcher().device().memory_bytes == 0 ? 1 : 1 << 17;
    for (const std::uint64_t base : launch->placement().base_addresses) EXPECT_EQ(base % bytes, 0u);
}

TEST_F(OnGpu, two_launches_live_side_by_side) {
    const auto first = launcher().prepare(plan_of("offset", 1, Op::rmw));
    const auto second = launcher().prepare(plan_of("stride", 2, Op::rmw));
    EXPECT_NE(first->placement().base_addresses, second->placement().base_addresses);
    first->launch();
    second->launch();
    EXPECT_NO_THROW(first->verify());
    EXPECT_NO_THROW(second->verify());
}

// Which calibrate asks for 14 times.
TEST_F(OnGpu, goes_on_in_a_new_context) {
    const Plan plan = plan_of("offset", 1, Op::rmw);
    for (int context = 0; context < 3; ++context) {
        {
            const auto launch = launcher().prepare(plan);
            launch->launch();
            EXPECT_NO_THROW(launch->verify());
            EXPECT_GT(launch->time(3, CacheState::cold).median_seconds, 0);
        }
        EXPECT_GT(launcher().read_ceiling(), 0);
        launcher().start_anew();
    }
}

TEST_F(OnGpu, settings_are_what_was_asked_for) {
    for (const std::uint32_t bytes : {32u, 64u, 128u}) {
        Plan plan = plan_of("stride", 32, Op::load);
        plan.cache.l2_fetch_bytes = bytes;
        plan.cache.carveout = Carveout{.shared_percent = 50, .text = "prefer-equal"};
        const auto launch = launcher().prepare(plan);
        const LaunchSettings settings = launch->settings();
        EXPECT_EQ(settings.l2_fetch_bytes, bytes);
        EXPECT_EQ(settings.carveout_percent, 50u);
        EXPECT_EQ(settings.local_bytes, 0u) << "registers were spilled";
        EXPECT_GT(settings.occupancy, 0);
    }
}

TEST_F(OnGpu, pitches_are_multiples_of_what_the_driver_likes) {
    for (const std::uint64_t row_bytes : {1u, 480u, 512u, 513u, 5000u}) {
        const std::uint64_t pitch = launcher().pitch_bytes(row_bytes);
        EXPECT_GE(pitch, row_bytes);
        EXPECT_EQ(pitch % 256, 0u) << row_bytes;
    }
}

TEST_F(OnGpu, every_kind_of_warp_can_be_replayed) {
    std::mt19937_64 random(1);
    const auto replay = [&](AccessKind kind, Space space, std::uint32_t width, std::uint64_t span) {
        SCOPED_TRACE(fmt::format("kind {} space {} width {} span {}", static_cast<int>(kind),
                                 static_cast<int>(space), width, span));
        WarpAccess access;
        access.kind = kind;
        access.space = space;
        access.width_bytes = width;
        access.active_lanes = static_cast<std::uint32_t>(random());
        const std::uint64_t start =
            space == Space::global ? 0x7F00'0000'0000 + random() % (1ull << 36) / width * width : 0;
        for (std::uint64_t& address : access.addresses)
            address = start + random() % (span / width) * width;
        try {
            const auto launch = launcher().prepare_warp(access);
            launch->launch();
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    };
    for (int round = 0; round < 20; ++round) {
        for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u})
            for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
                replay(kind, Space::global, width, 1 << 12);
                replay(kind, Space::global, width, 15ull << 30);
                replay(kind, Space::shared, width, 32 << 10);
                replay(kind, Space::shared, width,
                       launcher().device().shared_bytes_per_block_optin);
            }
        for (const std::uint32_t width : {4u, 8u})
            for (const AccessKind kind : {AccessKind::atomic, AccessKind::reduce})
                replay(kind, Space::global, width, 1 << 20);
    }
}

TEST_F(OnGpu, ceilings_lie_below_the_peak) {
    const double peak = launcher().device().peak_bytes_per_second();
    for (const double ceiling : {launcher().read_ceiling(), launcher().copy_ceiling()}) {
        EXPECT_GT(ceiling, 0.3 * peak);
        EXPECT_LT(ceiling, 1.05 * peak);
    }
    fmt::print("read {:.0f} GB/s, copy {:.0f} GB/s, peak {:.0f} GB/s\n",
               launcher().read_ceiling() / 1e9, launcher().copy_ceiling() / 1e9, peak / 1e9);
}

}  // namespace
}  // namespace coalprof
