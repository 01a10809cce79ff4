#include "kernels/launcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/pattern/memory_settings.h"
#include "core/run/device.h"
#include "kernels/driver_api.h"
#include "kernels/fake_driver.h"
#include "kernels/fake_kernels.h"
#include "kernels/nvrtc_api.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

class Launcher : public testing::Test {
 protected:
    KernelLauncher& launcher() {
        if (!launcher_) launcher_ = make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), options_);
        return *launcher_;
    }
    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) {
        KernelLauncher& on = launcher();
        kernels_.expect(plan);
        return on.prepare(plan);
    }
    std::size_t launches_of(const std::string& kernel) const {
        return static_cast<std::size_t>(
            std::count(gpu_.launched.begin(), gpu_.launched.end(), kernel));
    }

    FakeGpu gpu_;
    FakeKernels kernels_{gpu_};
    LauncherOptions options_;
    std::unique_ptr<KernelLauncher> launcher_;
};

std::string message_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const PointError& error) {
        return error.what();
    }
    return "no PointError";
}

std::string text_in(const NamedValues& values, const std::string& name) {
    for (const auto& [key, value] : values) {
        if (key != name) continue;
        if (const auto* text = std::get_if<std::string>(&value)) return *text;
        if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    }
    return "not there";
}

TEST_F(Launcher, runs_and_verifies_every_pattern_and_op) {
    for (const PatternInfo& pattern : global_patterns())
        for (const Op op :
             {Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce}) {
            if (pattern.name == "transpose" && op != Op::copy) continue;
            const Plan plan = plan_of(std::string(pattern.name), usual_value(pattern), op,
                                      ElementType::f32, 1, 32768);
            SCOPED_TRACE(plan.pattern + " " + std::string(name_of(op)));
            const auto launch = prepare(plan);
            EXPECT_NO_THROW(launch->verify());
            launch->launch();
            launch->launch();  // counts are as if nothing had run: verify launches once more
            EXPECT_NO_THROW(launch->verify());
            launch->time(3, CacheState::warm);
            EXPECT_NO_THROW(launch->verify());
        }
}

TEST_F(Launcher, runs_and_verifies_shared_constant_and_local_memory) {
    for (const PatternInfo& pattern : near_patterns())
        for (const Op op : {Op::load, Op::store, Op::rmw}) {
            if (pattern.name == "constant" && op != Op::load) continue;
            const Plan plan = plan_of(std::string(pattern.name), usual_value(pattern), op);
            SCOPED_TRACE(plan.pattern + " " + std::string(name_of(op)));
            const auto launch = prepare(plan);
            gpu_.launched.clear();
            launch->launch();
            EXPECT_EQ(gpu_.launched, std::vector<std::string>{"coalprof_access"});
            EXPECT_EQ(kernels_.last.rounds, 1u);
            const bool is_constant = pattern.name == "constant";
            EXPECT_EQ(kernels_.last.checked_bits, is_constant ? ~touched_bits : 0u);
            EXPECT_NO_THROW(launch->verify());
            // Constants are checked by every launch, the others by one that fills them.
            EXPECT_EQ(launches_of("coalprof_near_check"), is_constant ? 0u : 1u);
            EXPECT_EQ(kernels_.last.checked_bits, ~touched_bits);
            kernels_.reports_fault = true;
            launch->launch();
            EXPECT_NE(message_of([&] { launch->verify(); }).find("thread 17"), std::string::npos);
            kernels_.reports_fault = false;
        }
}

TEST_F(Launcher, takes_no_device_memory_for_other_memories) {
    const auto launch = prepare(plan_of("shared-stride", 3, Op::load));
    EXPECT_EQ(launch->placement().base_addresses, std::vector<std::uint64_t>{0});
    EXPECT_EQ(launches_of("coalprof_fill"), 0u);
}

TEST_F(Launcher, gives_a_block_the_shared_memory_of_its_arrays) {
    std::uint32_t shared_bytes = 0;
    const auto launch = prepare(plan_of("shared-stride", 3, Op::load));
    gpu_.play = [&](const FakeLaunch& one) { shared_bytes = one.shared_bytes; };
    launch->launch();
    EXPECT_EQ(shared_bytes, (31 * 3 + 1) * 4u);
    EXPECT_EQ(text_in(launch->settings(), "shared_bytes"), "376");
}

TEST_F(Launcher, launches_a_kernel_of_constants_without_them) {
    const auto launch = prepare(plan_of("constant", 4, Op::load));
    launch->launch_without_constants();
    EXPECT_EQ(kernels_.last.rounds, 0u);
    EXPECT_EQ(kernels_.last.checked_bits, 0u) << "nothing was loaded that could be checked";
    launch->launch();
    EXPECT_EQ(kernels_.last.rounds, 1u);
}

TEST_F(Launcher, verifies_that_a_tiled_transpose_is_one) {
    // 64 KiB on the host, 2 x 16 MiB where they are.
    for (const std::uint64_t size_bytes : {1ull << 16, 16ull << 20}) {
        const Plan plan = tiled_transpose("padded", 64, ElementType::f32, size_bytes);
        const auto launch = prepare(plan);
        EXPECT_NO_THROW(launch->verify()) << "before the first launch";
        launch->launch();
        EXPECT_NO_THROW(launch->verify());
        launch->launch();
        auto* b = reinterpret_cast<Word*>(launch->placement().base_addresses[1]);
        std::swap(b[64], b[65]);  // two elements in each other's place
        EXPECT_NE(message_of([&] { launch->verify(); }).find("array b, element 64: "),
                  std::string::npos);
    }
    const auto launch = prepare(tiled_transpose("tile", 64));
    kernels_.loses_stores = true;
    launch->launch();
    EXPECT_NE(message_of([&] { launch->verify(); }).find("array b, element 0: "),
              std::string::npos);
}

TEST_F(Launcher, launches_nothing_but_the_kernel) {
    const auto launch = prepare(plan_of("offset", 3, Op::rmw));
    gpu_.launched.clear();
    launch->launch();
    EXPECT_EQ(gpu_.launched, std::vector<std::string>{"coalprof_access"});
    EXPECT_EQ(gpu_.last_call, "cuCtxSynchronize");
}

TEST_F(Launcher, names_the_element_that_is_wrong) {
    const auto launch = prepare(plan_of("offset", 3, Op::rmw));
    launch->launch();
    auto* words = reinterpret_cast<Word*>(launch->placement().base_addresses[0]);
    words[17] = 0xDEAD;
    const std::string message = message_of([&] { launch->verify(); });
    EXPECT_TRUE(
        message.starts_with("wrong data after the kernel: array a, element 17: expected 0x"))
        << message;
    EXPECT_TRUE(message.ends_with(", found 0x0000dead")) << message;
}

TEST_F(Launcher, notices_a_kernel_that_stores_nothing) {
    for (const Op op : {Op::store, Op::rmw, Op::copy, Op::atomic, Op::reduce}) {
        const auto launch = prepare(plan_of("stride", 2, op));
        kernels_.loses_stores = true;
        launch->launch();
        EXPECT_NE(message_of([&] { launch->verify(); }), "no PointError") << name_of(op);
        kernels_.loses_stores = false;
    }
}

TEST_F(Launcher, tells_of_a_value_that_only_the_kernel_saw_wrong) {
    const auto launch = prepare(plan_of("offset", 3, Op::load));
    kernels_.reports_fault = true;
    launch->launch();
    EXPECT_EQ(message_of([&] { launch->verify(); }),
              "wrong data in the kernel: thread 17 loaded a value that differs from what its array "
              "holds (bits 0x00000010)");
}

TEST_F(Launcher, verifies_large_arrays_where_they_are) {
    // 24 MiB of f32x4; stride 3 leaves two thirds untouched.
    for (const Op op : {Op::rmw, Op::store}) {
        const auto launch = prepare(plan_of("stride", 3, op, ElementType::f32x4, 1, 8 << 20));
        launch->launch();
        const std::uint64_t calls = gpu_.launched.size();
        EXPECT_NO_THROW(launch->verify());
        EXPECT_GT(gpu_.launched.size(), calls) << "kernels of its own did it";
        // All is as before the first launch, so another one can be verified again.
        EXPECT_NO_THROW(launch->verify());
        launch->launch();
        EXPECT_NO_THROW(launch->verify());
        launch->launch();
        auto* words = reinterpret_cast<Word*>(launch->placement().base_addresses[0]);
        words[4 * 7 + 2] ^= 4;  // element 7, which nobody touches
        EXPECT_NE(message_of([&] { launch->verify(); }).find("array a, element 7: "),
                  std::string::npos);
    }
}

TEST_F(Launcher, undoes_atomics_on_large_arrays_to_verify_them) {
    const auto launch = prepare(plan_of("stride", 3, Op::reduce, ElementType::u64, 1, 8 << 20));
    launch->launch();
    EXPECT_NO_THROW(launch->verify());
    EXPECT_EQ(launches_of("coalprof_undo_0"), 1u);
    kernels_.loses_stores = true;
    launch->launch();
    EXPECT_NE(message_of([&] { launch->verify(); }), "no PointError");
}

TEST_F(Launcher, empties_l2_before_each_cold_launch_and_only_then) {
    const auto launch = prepare(plan_of("offset", 3, Op::load));
    gpu_.launched.clear();
    const Timing cold = launch->time(5, CacheState::cold);
    EXPECT_EQ(cold.repeats, 5u);
    EXPECT_DOUBLE_EQ(cold.median_seconds, 0.5e-3);
    EXPECT_EQ(launches_of("coalprof_flush"), launches_of("coalprof_access"));
    EXPECT_EQ(launches_of("coalprof_access"), 7u);  // two to warm up
    gpu_.launched.clear();
    launch->time(5, CacheState::warm);
    EXPECT_EQ(launches_of("coalprof_flush"), 0u);
    EXPECT_EQ(launches_of("coalprof_pause"), 7u);
}

TEST_F(Launcher, reports_what_was_set) {
    Plan plan = plan_of("offset", 3, Op::load);
    plan.cache.carveout = Carveout{.shared_percent = 100, .text = "prefer-shared"};
    plan.cache.l2_fetch_bytes = 128;
    const auto launch = prepare(plan);
    const NamedValues settings = launch->settings();
    EXPECT_EQ(text_in(settings, "architecture"), "sm_90");
    EXPECT_EQ(text_in(settings, "registers"), "32");
    EXPECT_EQ(text_in(settings, "blocks_per_multiprocessor"), "8");  // 2048 / 256
    EXPECT_EQ(text_in(settings, "carveout_asked"), "prefer-shared");
    EXPECT_EQ(text_in(settings, "carveout_percent"), "100");
    EXPECT_EQ(text_in(settings, "l2_fetch_bytes"), "128");
}

TEST_F(Launcher, gives_each_launch_its_own_settings) {
    Plan wide = plan_of("offset", 3, Op::load);
    wide.cache.l2_fetch_bytes = 128;
    wide.cache.carveout = Carveout{.shared_percent = 0, .text = "prefer-l1"};
    const Plan usual = plan_of("offset", 3, Op::load);
    const auto first = prepare(wide);
    const auto second = prepare(usual);
    EXPECT_EQ(gpu_.fetch_limit, 64u);
    first->launch();
    EXPECT_EQ(gpu_.fetch_limit, 128u);
    EXPECT_EQ(gpu_.function_attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT], 0);
    second->launch();
    EXPECT_EQ(gpu_.fetch_limit, 64u);
    EXPECT_EQ(gpu_.function_attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT], -1);
    EXPECT_NO_THROW(first->verify());  // and its own memory
}

TEST_F(Launcher, restores_the_l2_fetch_granularity) {
    Plan plan = plan_of("offset", 3, Op::load);
    plan.cache.l2_fetch_bytes = 32;
    prepare(plan)->launch();
    EXPECT_EQ(gpu_.fetch_limit, 32u);
    launcher_.reset();
    EXPECT_EQ(gpu_.fetch_limit, 64u);
}

TEST_F(Launcher, says_that_a_gpu_has_no_l2_fetch_granularity) {
    gpu_.knows_fetch_limit = false;
    Plan plan = plan_of("offset", 3, Op::load);
    EXPECT_NO_THROW(prepare(plan));
    plan.cache.l2_fetch_bytes = 32;
    EXPECT_NE(message_of([&] { prepare(plan); }).find("--l2-fetch 32"), std::string::npos);
}

TEST_F(Launcher, compiles_once_for_a_sweep_and_passes_the_modifiers_on) {
    for (std::uint64_t offset = 0; offset < 5; ++offset)
        prepare(plan_of("offset", offset, Op::rmw))->launch();
    launcher_.reset();                    // waits for what is compiled ahead
    EXPECT_EQ(gpu_.compiled.size(), 3u);  // the kernel, the fill, and what empties L2
    Plan plan = plan_of("offset", 1, Op::rmw);
    plan.cache.dlcm = LoadModifier::cg;
    plan.cache.dscm = StoreModifier::wt;
    prepare(plan);
    launcher_.reset();
    const auto given = [this](const char* option) {
        return std::count(gpu_.options.begin(), gpu_.options.end(), option);
    };
    EXPECT_EQ(given("--ptxas-options=-dlcm=cg"), 1);
    EXPECT_EQ(given("--ptxas-options=-dscm=wt"), 1);
    EXPECT_EQ(given("--gpu-architecture=sm_90"), static_cast<long>(gpu_.compiled.size()));
}

TEST_F(Launcher, compiles_ahead_what_it_is_told) {
    options_.ahead = {plan_of("stride", 2, Op::load)};
    EXPECT_EQ(launcher().device().nvrtc_version, 13000u);
    launcher_.reset();  // waits for the compiler
    EXPECT_EQ(gpu_.compiled.size(), 3u) << "the kernel, the fill, and what empties L2";
}

TEST_F(Launcher, reuses_the_memory_of_the_point_before) {
    const auto first = prepare(plan_of("offset", 0, Op::load))->placement().base_addresses;
    const auto second = prepare(plan_of("offset", 32, Op::load))->placement().base_addresses;
    EXPECT_EQ(first, second);
}

TEST_F(Launcher, says_how_much_memory_a_point_needs) {
    const Plan plan = plan_of("stride", 32, Op::load, ElementType::f32, 1, 64 << 20);
    const std::string message = message_of([&] { launcher().prepare(plan); });
    // 2^24 floats, 32 apart: (2^24 - 1) * 32 + 1 elements, 2 GiB in whole pages.
    EXPECT_NE(message.find("needs 2.0 GiB"), std::string::npos) << message;
    EXPECT_NE(message.find(" MiB free"), std::string::npos) << message;
    EXPECT_NO_THROW(prepare(plan_of("stride", 2, Op::load))) << "the next point goes on";
}

TEST_F(Launcher, asks_the_driver_for_the_pitch_once) {
    EXPECT_EQ(launcher().pitch_bytes(480), 512u);
    const std::uint64_t calls = gpu_.calls;
    EXPECT_EQ(launcher().pitch_bytes(480), 512u);
    EXPECT_EQ(gpu_.calls, calls);
}

// The fake clock always says 0.5 ms. 0.4 ms at the peak of 4.9 TB/s would be 1.8 GiB: more than
// half of what is free, 256 MiB, which is taken instead.
TEST_F(Launcher, measures_its_ceilings_once) {
    const double read = launcher().read_ceiling();
    EXPECT_DOUBLE_EQ(read, (256 << 20) / 0.5e-3);
    const std::size_t launches = gpu_.launched.size();
    EXPECT_EQ(launcher().read_ceiling(), read);
    EXPECT_DOUBLE_EQ(launcher().copy_ceiling(), read);  // half of it read, half of it written
    EXPECT_EQ(gpu_.launched.size(), launches);
}

// 0.4 ms at 320 GB/s (a T4: 5001 MHz, 256 bits) are 122 MiB, far more than its L2.
TEST_F(Launcher, reads_no_longer_for_its_ceilings_on_a_slower_gpu) {
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 5001000;
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 256;
    EXPECT_DOUBLE_EQ(launcher().read_ceiling(), (122 << 20) / 0.5e-3);
}

TEST_F(Launcher, compiles_the_kernels_of_its_ceilings_ahead_where_they_are_wanted) {
    options_.compiles_ceilings_ahead = true;
    launcher();
    launcher_.reset();  // waits for the compiler
    EXPECT_EQ(gpu_.compiled.size(), 2u) << "what empties L2, and what reads";
}

Plan plan_in(Allocation allocation, Op op = Op::copy, std::uint64_t size_bytes = 1 << 16) {
    Plan plan = plan_of("offset", 3, op, ElementType::f32, 1, size_bytes);
    plan.allocation = allocation;
    return plan;
}

constexpr std::array allocations{Allocation::device, Allocation::static_array, Allocation::managed,
                                 Allocation::host};

TEST_F(Launcher, runs_and_verifies_arrays_wherever_they_lie) {
    for (const Allocation allocation : allocations)
        for (const Op op : {Op::rmw, Op::copy, Op::reduce}) {
            SCOPED_TRACE(std::string(name_of(allocation)) + " " + std::string(name_of(op)));
            const auto launch = prepare(plan_in(allocation, op));
            launch->launch();
            EXPECT_NO_THROW(launch->verify());
            launch->time(2, CacheState::cold);
            EXPECT_NO_THROW(launch->verify());
        }
    launcher_.reset();
    EXPECT_EQ(gpu_.live(), 0);
}

TEST_F(Launcher, allocates_as_it_is_told) {
    // Two arrays each.
    const auto managed = prepare(plan_in(Allocation::managed));
    EXPECT_EQ(gpu_.managed, 2);
    const auto host = prepare(plan_in(Allocation::host));
    EXPECT_EQ(gpu_.host_allocations, 2);
    const int modules = gpu_.modules;
    const auto arrays = prepare(plan_in(Allocation::static_array));
    EXPECT_EQ(gpu_.modules - modules, 2);
    EXPECT_EQ(text_in(arrays->settings(), "alloc"), "static");
    EXPECT_NE(gpu_.compiled.back().find("__device__"), std::string::npos);
}

TEST_F(Launcher, compiles_one_array_for_all_points_of_a_sweep) {
    for (std::uint64_t offset = 0; offset < 5; ++offset) {
        Plan plan = plan_of("offset", offset, Op::rmw);
        plan.allocation = Allocation::static_array;
        prepare(plan)->launch();
    }
    launcher_.reset();                    // waits for what is compiled ahead
    EXPECT_EQ(gpu_.compiled.size(), 4u);  // kernel, fill, what empties L2, and the array
}

TEST_F(Launcher, never_takes_more_managed_memory_than_is_free_on_the_gpu) {
    const std::string message =
        message_of([&] { prepare(plan_in(Allocation::managed, Op::load, 600 << 20)); });
    EXPECT_NE(message.find("not enough GPU memory"), std::string::npos) << message;
    EXPECT_EQ(gpu_.managed, 0);
}

TEST_F(Launcher, says_what_a_gpu_does_not_have) {
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 0;
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY] = 0;
    EXPECT_EQ(message_of([&] { prepare(plan_in(Allocation::managed)); }),
              "--alloc managed: this GPU has no managed memory");
    EXPECT_EQ(message_of([&] { prepare(plan_in(Allocation::host)); }),
              "--alloc host: this GPU cannot reach memory of the host");
    EXPECT_NO_THROW(prepare(plan_in(Allocation::device))) << "the next point goes on";
}

// 2^44 bytes: no host has them free, and nothing is asked for.
TEST_F(Launcher, refuses_host_memory_that_is_not_there) {
    Plan plan = plan_in(Allocation::host, Op::load);
    plan.program.arrays[0].elements = 1ull << 42;
    const std::string message = message_of([&] { prepare(plan); });
    EXPECT_NE(message.find("not enough host memory"), std::string::npos) << message;
    EXPECT_EQ(gpu_.host_allocations, 0);
}

TEST_F(Launcher, refuses_a_device_array_of_4_gib) {
    gpu_.memory_bytes = 16ull << 30;
    Plan plan = plan_in(Allocation::static_array, Op::load);
    plan.program.arrays[0].elements = 1ull << 30;
    EXPECT_EQ(message_of([&] { prepare(plan); }),
              "--alloc static: a __device__ array holds less than 4 GiB");
}

// --- textures

Plan plan_on(LoadPath path, ElementType type = ElementType::f32, std::uint64_t size = 1 << 16) {
    Plan plan = plan_of("offset", 3, Op::copy, type, 1, size);
    plan.path = path;
    apply_memory_settings(plan);
    return plan;
}

TEST_F(Launcher, makes_a_texture_of_each_array_that_is_fetched_and_of_no_other) {
    const auto launch = prepare(plan_on(LoadPath::tex, ElementType::f32x2));
    EXPECT_EQ(gpu_.textures, 1);  // the array that is stored to needs none
    EXPECT_EQ(gpu_.last_texture.res.linear.devPtr, launch->placement().base_addresses[0]);
    EXPECT_EQ(gpu_.last_texture.res.linear.numChannels, 2u);
    EXPECT_EQ(gpu_.last_texture.res.linear.sizeInBytes, ((1u << 13) + 3) * 8);
    const auto plain = prepare(plan_on(LoadPath::ldg));
    EXPECT_EQ(gpu_.textures, 1);
}

TEST_F(Launcher, hands_the_texture_to_the_instruction_that_fetches) {
    std::vector<Index> textures;
    const auto play = gpu_.play;
    gpu_.play = [&](const FakeLaunch& launch) {
        play(launch);
        if (launch.function->name != access_kernel) return;
        for (const std::size_t k : {2u, 3u}) {  // after the two formulas
            Operand operand;
            std::memcpy(&operand, launch.parameters[k], sizeof operand);
            textures.push_back(operand.texture);
        }
    };
    const auto launch = prepare(plan_on(LoadPath::tex));
    launch->launch();
    EXPECT_EQ(textures, (std::vector<Index>{0x7E1, 0}));
    EXPECT_NO_THROW(launch->verify());
}

TEST_F(Launcher, refuses_more_texels_than_the_gpu_takes) {
    const std::string message =
        message_of([&] { prepare(plan_on(LoadPath::tex, ElementType::f32, 8 << 20)); });
    EXPECT_EQ(message,
              "--path tex: array a has 2097155 texels, and this GPU's textures of linear memory "
              "hold 1048576; choose a smaller --size or a wider --type");
    EXPECT_NO_THROW(prepare(plan_on(LoadPath::tex, ElementType::f32x4, 8 << 20)));
}

TEST_F(Launcher, gives_everything_back) {
    {
        const auto launch = prepare(plan_of("row", 480, Op::copy));
        launch->time(2, CacheState::cold);
        launcher().read_ceiling();
        WarpAccess access;
        access.active_lanes = 1;
        launcher().prepare_warp(access)->launch();
    }
    launcher_.reset();
    EXPECT_EQ(gpu_.live(), 0);
}

TEST_F(Launcher, names_the_devices_there_are) {
    options_.device = 3;
    gpu_.devices = 2;
    try {
        launcher();
        ADD_FAILURE();
    } catch (const NoSuchDeviceError& error) {
        EXPECT_EQ(error.code(), ExitCode::environment);
        EXPECT_STREQ(error.what(),
                     "--device 3: there is no such GPU; this machine has 0 Fake GPU, 1 Fake GPU");
    }
}

TEST_F(Launcher, needs_a_compiler) {
    try {
        make_launcher(FakeGpu::driver(), {.api = std::nullopt, .path = {}, .sentence = "no NVRTC"},
                      {});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::environment);
        EXPECT_STREQ(error.what(), "no NVRTC");
    }
    EXPECT_EQ(gpu_.live(), 0);
}

TEST_F(Launcher, calls_a_kernel_that_does_not_compile_a_bug_of_ours) {
    launcher();
    gpu_.compile_answer = NVRTC_ERROR_COMPILATION;
    try {
        prepare(plan_of("offset", 3, Op::load));
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::internal);
        EXPECT_NE(std::string(error.what()).find("something is wrong"), std::string::npos);
    }
}

// --- warps

WarpAccess warp(AccessKind kind, std::uint32_t width, std::uint64_t start, std::uint64_t step) {
    WarpAccess access;
    access.kind = kind;
    access.width_bytes = width;
    access.active_lanes = all_lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = start + lane * step;
    return access;
}

TEST_F(Launcher, replays_a_warp_with_its_address_bits_kept) {
    WarpArgument seen;
    gpu_.play = [&seen](const FakeLaunch& launch) {
        std::memcpy(&seen, launch.parameters[0], sizeof seen);
    };
    WarpAccess access = warp(AccessKind::load, 4, 0x7f12'3456'7000, 132);
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

TEST_F(Launcher, names_the_kernel_of_a_warp_by_what_it_does) {
    launcher().prepare_warp(warp(AccessKind::store, 16, 0, 16))->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_store_16");
    launcher().prepare_warp(warp(AccessKind::atomic, 8, 0, 8))->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_atomic_8");
    launcher().prepare_warp(warp(AccessKind::reduce, 4, 0, 8))->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_reduce_4");
    WarpAccess shared = warp(AccessKind::store, 2, 0, 2);
    shared.space = Space::shared;
    launcher().prepare_warp(shared)->launch();
    EXPECT_EQ(gpu_.launched.back(), "coalprof_shared_store_2");
}

TEST_F(Launcher, gives_a_block_the_shared_memory_that_its_warp_touches) {
    std::uint32_t shared_bytes = 0;
    gpu_.play = [&](const FakeLaunch& launch) { shared_bytes = launch.shared_bytes; };
    WarpAccess access = warp(AccessKind::load, 4, 100'000, 4);
    access.space = Space::shared;
    launcher().prepare_warp(access)->launch();
    EXPECT_EQ(shared_bytes, 100'224u);  // up to byte 100128, in steps of 128
    EXPECT_EQ(gpu_.function_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES], 232448);
}

TEST_F(Launcher, refuses_warps_that_it_cannot_replay) {
    struct Case {
        const char* why;
        WarpAccess access;
    };
    WarpAccess far = warp(AccessKind::load, 4, 0, 0);
    far.addresses[31] = 20ull << 30;
    WarpAccess deep = warp(AccessKind::load, 4, 232'444, 4);
    deep.space = Space::shared;
    WarpAccess crooked = warp(AccessKind::load, 8, 4, 8);
    WarpAccess constant = warp(AccessKind::load, 4, 0, 4);
    constant.space = Space::constant;
    WarpAccess shared_atomic = warp(AccessKind::atomic, 4, 0, 4);
    shared_atomic.space = Space::shared;
    const Case cases[] = {
        {"its lanes span 20.0 GiB, and at most 16.0 GiB can be replayed", far},
        {"a block has 232448 bytes", deep},
        {"the address of lane 0, 0x4, is no multiple of 8 bytes", crooked},
        {"no instruction moves 3 bytes", warp(AccessKind::load, 3, 0, 3)},
        {"no instruction of that kind", warp(AccessKind::atomic, 2, 0, 2)},
        {"no instruction of that kind", constant},
        {"no instruction of that kind", shared_atomic},
    };
    for (const Case& one : cases) {
        const std::string message = message_of([&] { launcher().prepare_warp(one.access); });
        EXPECT_NE(message.find(one.why), std::string::npos) << message;
    }
}

TEST_F(Launcher, replays_a_warp_without_an_active_lane) {
    WarpAccess access = warp(AccessKind::load, 4, 0, 4);
    access.active_lanes = 0;
    EXPECT_NO_THROW(launcher().prepare_warp(access)->launch());
}

}  // namespace
}  // namespace coalprof
