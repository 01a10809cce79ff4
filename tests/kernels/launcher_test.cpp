#include "kernels/launcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/launcher_fixture.h"

namespace coalprof {
namespace {

class Launcher : public LauncherTest {};

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

// Kernels are compiled once and loaded again; nothing of the first context stays.
TEST_F(Launcher, goes_on_in_a_new_context) {
    const Plan plan = plan_of("offset", 3, Op::copy);
    prepare(plan)->launch();
    const int held = gpu_.live();
    const std::size_t compiled = gpu_.compiled.size();
    launcher().read_ceiling();
    gpu_.launched.clear();
    launcher().start_anew();
    EXPECT_EQ(gpu_.contexts, 1);
    EXPECT_EQ(gpu_.modules, 0);
    prepare(plan)->launch();
    EXPECT_EQ(launches_of("coalprof_access"), 1u);
    EXPECT_EQ(gpu_.live(), held);
    EXPECT_EQ(gpu_.compiled.size(), compiled + 1) << "that of the ceiling";
}

TEST_F(Launcher, that_gets_no_new_context_says_so_and_can_go) {
    launcher();
    script_.failing = "cuDevicePrimaryCtxRetain";
    EXPECT_THROW(launcher().start_anew(), Error);
    launcher_.reset();
    EXPECT_EQ(gpu_.live(), 0);
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
    EXPECT_EQ(launch->settings().shared_bytes, 376u);
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
    for (const std::uint64_t size_bytes : {1ull << 16, 16ull << 20}) {
        const Plan plan = tiled_transpose("padded", 64, ElementType::f32, size_bytes);
        const auto launch = prepare(plan);
        EXPECT_NO_THROW(launch->verify()) << "before the first launch";
        launch->launch();
        EXPECT_NO_THROW(launch->verify());
        launch->launch();
        auto* b = reinterpret_cast<Word*>(launch->placement().base_addresses[2]);
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
    EXPECT_EQ(script_.last_call(), "cuCtxSynchronize");
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
    for (const Op op : {Op::store, Op::rmw, Op::copy, Op::atomic, Op::reduce})
        for (const int launches : {1, 2}) {
            const auto launch = prepare(plan_of("stride", 2, op));
            kernels_.loses_stores = true;
            for (int k = 0; k < launches; ++k) launch->launch();
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
    for (std::size_t k = 1; k <= 3; ++k) {
        launch->launch();
        EXPECT_NO_THROW(launch->verify());
        EXPECT_EQ(launches_of("coalprof_undo_0"), k);
    }
    kernels_.loses_stores = true;
    launch->launch();
    // What was never added is taken away all the same.
    const std::string message = message_of([&] { launch->verify(); });
    const auto number_behind = [&](const std::string& word) {
        return std::stoull(message.substr(message.find(word) + word.size()), nullptr, 16);
    };
    EXPECT_EQ(number_behind("found ") + 1, number_behind("expected ")) << message;
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
    // and one for each round: one to warm up, two of up to four
    EXPECT_EQ(launches_of("coalprof_pause"), 7u + 3);
}

// Each thread could add to one word, and up to 2^23 a float surely counts.
TEST_F(Launcher, adds_nothing_where_a_float_would_stop_counting) {
    for (const auto& [threads, increment] : {std::pair{1u << 23, 1.0}, {(1u << 23) + 1, 0.0}}) {
        const auto launch = prepare(
            formula_plan("reduce.f32: a[i / 65536]", {1024}, {}, ElementType::u8, 1, threads));
        LaunchArgument given;
        gpu_.play = [&](const FakeLaunch& one) {
            std::memcpy(&given, one.parameters[2], sizeof given);
        };
        launch->launch();
        EXPECT_EQ(given.real_increment, increment);
        gpu_.play = [](const FakeLaunch&) {};  // preparing the next one launches other kernels
    }
}

TEST_F(Launcher, sets_nothing_that_nobody_asked_for_and_the_rest_once) {
    gpu_.play = [](const FakeLaunch&) {};
    const auto count_settings = [&](const Plan& plan) {
        gpu_.settings_made = 0;
        for (int k = 0; k < 2; ++k) {
            const auto launch = launcher().prepare(plan);
            launch->launch();
            launch->time(1, CacheState::warm);
        }
        return gpu_.settings_made;
    };
    EXPECT_EQ(count_settings(plan_of("offset", 3, Op::load)), 0);
    Plan plan = formula_plan("shared.load: tile[tid*50]");  // 255 * 50 + 1 words, 51,004 bytes
    plan.cache.carveout = Carveout{.shared_percent = 100, .text = "prefer-shared"};
    plan.cache.l2_fetch_bytes = 128;
    EXPECT_EQ(count_settings(plan), 3);
}

TEST_F(Launcher, reports_what_was_set) {
    Plan plan = plan_of("offset", 3, Op::load);
    plan.cache.carveout = Carveout{.shared_percent = 100, .text = "prefer-shared"};
    plan.cache.l2_fetch_bytes = 128;
    const auto launch = prepare(plan);
    const LaunchSettings settings = launch->settings();
    EXPECT_EQ(settings.architecture, "sm_90");
    EXPECT_EQ(settings.grid_blocks, 64u);  // 65536 bytes of f32 by 256 threads
    EXPECT_EQ(settings.block_threads, 256u);
    EXPECT_EQ(settings.registers, 32u);
    EXPECT_EQ(settings.blocks_per_multiprocessor, 8u);  // 2048 / 256
    EXPECT_EQ(settings.occupancy, 1);
    EXPECT_EQ(settings.carveout_percent, 100u);
    EXPECT_EQ(settings.l2_fetch_bytes, 128u);
    EXPECT_EQ(prepare(plan_of("offset", 3, Op::load))->settings().carveout_percent, std::nullopt);
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
    EXPECT_EQ(gpu_.compiled.size(), 4u)
        << "the kernel, what fills and compares, and what empties L2";
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
    EXPECT_NE(message.find("needs 2 GiB"), std::string::npos) << message;
    EXPECT_NE(message.find(" MiB free"), std::string::npos) << message;
    EXPECT_NO_THROW(prepare(plan_of("stride", 2, Op::load))) << "the next point goes on";
}

// Of 512 MiB the one has 300, and the other needs as many.
TEST_F(Launcher, gives_one_kind_of_memory_what_points_in_another_left_behind) {
    Plan plan = formula_plan("store.u32: a[i * 65536]", {256}, {}, ElementType::u32, 1, 4800);
    gpu_.play = [](const FakeLaunch&) {};
    prepare(plan);
    plan.allocation = Allocation::managed;
    EXPECT_EQ(message_of([&] { prepare(plan); }), "no PointError");
}

TEST_F(Launcher, says_what_a_row_needs_that_the_gpu_has_not) {
    EXPECT_EQ(message_of([&] { launcher().pitch_bytes(1ull << 30); }),
              "not enough GPU memory for one row: needs 1 GiB, 512 MiB free");
}

TEST_F(Launcher, says_how_much_memory_was_free_before_its_own) {
    EXPECT_EQ(launcher().device().free_memory_bytes, 512ull << 20);
}

// As a driver does that is older than the compiler.
TEST_F(Launcher, names_the_remedy_where_the_driver_does_not_know_the_code) {
    for (const CUresult code : {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_INVALID_IMAGE,
                                CUDA_ERROR_NO_BINARY_FOR_GPU}) {
        launcher();
        script_.failing = "cuModuleLoadDataEx";
        script_.fail_code = code;
        try {
            prepare(plan_of("offset", 3, Op::load));
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("update the driver"), std::string::npos);
        }
        script_.failing.clear();
    }
}

TEST_F(Launcher, compiles_again_what_could_not_be_compiled_once) {
    launcher();
    gpu_.compile_answer = NVRTC_ERROR_OUT_OF_MEMORY;
    const Plan plan = plan_of("offset", 3, Op::load);
    EXPECT_THROW(prepare(plan), PointError);
    gpu_.compile_answer = NVRTC_SUCCESS;
    EXPECT_NO_THROW(prepare(plan));
}

TEST_F(Launcher, shows_the_beginning_of_what_the_compiler_says_without_its_escapes) {
    gpu_.compile_log = "\x1b[31mred\n" + std::string(5000, 'x');
    launcher();
    gpu_.compile_answer = NVRTC_ERROR_COMPILATION;
    try {
        prepare(plan_of("offset", 3, Op::load));
        ADD_FAILURE();
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(" [31mred\nxxx"), std::string::npos);
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
        EXPECT_LT(text.size(), 2200u);
    }
}

// Modules belong to the context that they were loaded in.
TEST_F(Launcher, gives_back_in_its_own_context_beside_another_gpu) {
    gpu_.devices = 2;
    prepare(plan_of("offset", 3, Op::load))->launch();
    LauncherOptions second;
    second.device = 1;
    const auto other = make_launcher(FakeGpu::driver(), FakeGpu::nvrtc(), second);
    other->activate();
    launcher_.reset();
    EXPECT_EQ(gpu_.strays, std::vector<std::string>{});
}

TEST_F(Launcher, measures_its_ceilings_without_the_memory_of_points) {
    for (const auto ceiling : {&KernelLauncher::read_ceiling, &KernelLauncher::copy_ceiling}) {
        launcher_.reset();
        prepare(plan_of("offset", 3, Op::load));
        const std::uint64_t used = gpu_.used_bytes;
        (launcher().*ceiling)();
        EXPECT_LT(gpu_.used_bytes, used);
    }
}

TEST_F(Launcher, asks_the_driver_for_the_pitch_once) {
    EXPECT_EQ(launcher().pitch_bytes(480), 512u);
    const std::uint64_t calls = script_.calls();
    EXPECT_EQ(launcher().pitch_bytes(480), 512u);
    EXPECT_EQ(script_.calls(), calls);
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

// Nothing of one pass serves the next where the buffer is eight times L2: 160 MiB.
TEST_F(Launcher, reads_more_for_its_ceilings_than_l2_keeps) {
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 5001000;
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 256;
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 20 << 20;
    EXPECT_DOUBLE_EQ(launcher().read_ceiling(), (160 << 20) / 0.5e-3);
}

// On this GPU blocks all take 8192 cycles and 4096 ns, two after each other on each of its four
// multiprocessors, 500 cycles apart; a block that asks L2 alone loads 131,072 times.
TEST_F(Launcher, reads_cycles_from_what_kernels_record) {
    gpu_.play = [](const FakeLaunch& launch) {
        const bool has_records =
            launch.function->name != "coalprof_link" && launch.function->name != "coalprof_flush";
        if (!has_records) return;
        const std::map<std::string, std::size_t> parameters_before{
            {"coalprof_compute", 2},     {"coalprof_depend", 2},     {"coalprof_chase_shared", 2},
            {"coalprof_chase_l1", 6},    {"coalprof_chase_l2", 6},   {"coalprof_follow", 0},
            {"coalprof_fetch_words", 5}, {"coalprof_fetch_lines", 5}};
        ClockRecord* records = nullptr;
        std::memcpy(&records, launch.parameters[parameters_before.at(launch.function->name)],
                    sizeof records);
        for (Index k = 0; k < launch.grid; ++k) {
            const Index begin = k / 4 * (8192 + 500);
            records[k] = {begin, begin + 8192, 4096, k % 4};
        }
    };
    const CycleReadings read = launcher().read_cycles();
    EXPECT_DOUBLE_EQ(read.clock_hertz, 2e9);
    EXPECT_DOUBLE_EQ(read.instruction, 2);  // 4096
    EXPECT_DOUBLE_EQ(read.shared_load, 8);  // 1024
    EXPECT_DOUBLE_EQ(read.l1_load, 8);
    EXPECT_DOUBLE_EQ(read.l2_load, 8);
    EXPECT_DOUBLE_EQ(read.dram_load, 4);  // 2048 of 16384 by each of four multiprocessors
    EXPECT_DOUBLE_EQ(read.next_block, 500);
    EXPECT_DOUBLE_EQ(read.line_request, 8192.0 / 131072);
    EXPECT_DOUBLE_EQ(read.sector, 8192.0 / 65536);
}

TEST_F(Launcher, refuses_cycles_of_a_clock_that_stands_still) {
    EXPECT_THAT(message_of([&] { launcher().read_cycles(); }), testing::HasSubstr("stood still"));
}

TEST_F(Launcher, compiles_the_kernels_of_its_ceilings_ahead_where_they_are_wanted) {
    options_.compiles_ceilings_ahead = true;
    launcher();
    launcher_.reset();  // waits for the compiler
    EXPECT_EQ(gpu_.compiled.size(), 2u) << "what empties L2, and what reads";
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
        make_launcher(FakeGpu::driver(),
                      ready({.api = std::nullopt, .path = {}, .sentence = "no NVRTC"}), {});
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

// The check runs the kernel once more, and its atomics must add nothing.
TEST_F(Launcher, counts_in_global_memory_what_the_launches_did_and_not_what_their_check_does) {
    std::size_t checks = 0;
    for (const char* type : {"u32", "u64", "f32"}) {
        SCOPED_TRACE(type);
        const auto launch = prepare(formula_plan(fmt::format(
            "shared.store: tile[tid]; shared.load: tile[tid]; reduce.{}: all[tid]", type)));
        launch->launch();
        EXPECT_EQ(message_of([&] { launch->verify(); }), "no PointError");
        EXPECT_EQ(launches_of(near_check_kernel), ++checks);
    }
}

// The check itself runs the kernel, and stores to b.
TEST_F(Launcher, verifies_shared_beside_global_memory_before_any_launch) {
    const auto launch =
        prepare(formula_plan("load: a[bid.y*1000 + tid]; shared.store: tile[tid]; "
                             "shared.load: tile[tid ^ 21]; store: b[i]",
                             {32, 8}, Dimensions{3, 5, 2}));
    EXPECT_EQ(message_of([&] { launch->verify(); }), "no PointError");
    launch->launch();
    EXPECT_EQ(message_of([&] { launch->verify(); }), "no PointError");
}

}  // namespace
}  // namespace coalprof
