// Shared, constant and local memory and the tiled transpose on a real GPU: data right, and counters
// equal to the model's where they can be read. Skipped with the reason where there is no GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/count/predict.h"
#include "core/judge/gate_formats.h"
#include "core/judge/verify.h"
#include "core/run/runs.h"
#include "core/sweep/patterns.h"
#include "cupti/metric_table.h"
#include "gpu/on_gpu.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

class NearOnGpu : public GpuTest {};

TEST_F(NearOnGpu, data_are_right_in_shared_constant_and_local_memory) {
    std::size_t turn = 0;
    for (const PatternInfo& pattern : near_patterns())
        for (const Op op : {Op::load, Op::store, Op::rmw})
            for (const std::string_view type : element_type_list()) {
                if (pattern.name == "constant" && op != Op::load) continue;
                if (bytes_of(*find_element_type(type)) > 16) continue;
                // 65600 bytes leave threads over in the last block.
                run_and_verify(launcher(),
                               plan_of(std::string(pattern.name), usual_value(pattern), op,
                                       *find_element_type(type), turn % 3 == 0 ? 4 : 1,
                                       turn % 2 == 0 ? 1 << 16 : 65600));
                ++turn;
            }
    EXPECT_GT(turn, 100u);
}

// Formulas of shared memory, alone and beside global memory, in blocks of all shapes.
constexpr const char* shared_formulas[] = {
    "shared.load: tile[tid.x*33 + tid.y]",
    "shared.store: tile[tid.y*32 + tid.x]; shared.load: tile[tid.x*32 + tid.y]",
    "shared.store: tile[tid.x*32 + (tid.x ^ tid.y)]; shared.load: tile[hash(i, 1024)]",
    "load: a[bid.y*1000 + tid]; shared.store: tile[tid]; shared.load: tile[tid ^ 21]; store: b[i]",
    "shared.load.u8: bytes[tid*7 % 999] if lane % 3 != 0; shared.store.f64x2: wide[tid % 64]",
    "shared.load.f64: d[tid / 2 * 3]; shared.load.f32x4: q[tid % 100]; reduce.u32: c[tid]",
    "shared.add.u32: bins[hash(i, 256)]; shared.atomic.s32: more[tid % 7]",
    "load.u8: a[i]; shared.reduce.u32: bins[hash(i, 64)]; atomic.u32: all[lane]",
    "shared.load: large[tid*50]",  // beyond 48 KiB
};

TEST_F(NearOnGpu, data_are_right_in_formulas_of_shared_memory) {
    std::size_t turn = 0;
    for (const char* text : shared_formulas)
        for (const Dimensions& block :
             {Dimensions{32, 8}, Dimensions{16, 4, 4}, Dimensions{40, 5}}) {
            SCOPED_TRACE(fmt::format("{} --block {}", text, text_of(block)));
            run_and_verify(launcher(), formula_plan(text, block, Dimensions{3, 5, 2}));
            ++turn;
        }
    EXPECT_GT(turn, 25u);
}

struct CollectedPoints : ResultSink {
    std::vector<Point> points;
    void begin(const ResultHead&) override {}
    void point(const Point& point) override { points.push_back(point); }
    void finish(const ResultTail& tail) override {
        for (const Warning& warning : tail.warnings)
            ADD_FAILURE() << warning.point << " " << warning.text;
    }
};

// Requests of shared memory and all exact counters of global memory. Wavefronts include waiting
// where warps are many, and those of atomics, of which the model says nothing, are printed.
TEST_F(NearOnGpu, formulas_of_shared_memory_are_counted_as_predicted) {
    COALPROF_NEEDS_COUNTERS();
    std::vector<PlannedPoint> planned;
    for (const char* text : shared_formulas)
        planned.push_back({.plan = formula_plan(text, {32, 8}, Dimensions{3, 5, 2}),
                           .machine = machine(),
                           .name = text});
    for (const std::uint64_t lanes : {1u, 2u, 3u, 8u, 16u, 31u, 32u})
        planned.push_back(
            {.plan = formula_plan(fmt::format("shared.add.u32: bins[lane % {}]", lanes)),
             .machine = machine(),
             .name = fmt::format("atomics of {} words", lanes)});
    ListedPoints points(std::move(planned));
    CollectedPoints sink;
    run_on_device(points,
                  {.launcher = launcher(),
                   .collector = &collector(),
                   .no_counters = {},
                   .wanted = wants(counters_of(CounterSet::memory, points.check())),
                   .repeats = 0},
                  sink);
    std::uint64_t compared = 0;
    for (const Point& point : sink.points) {
        ASSERT_TRUE(point.measured) << point.name << point.failure;
        point.predicted.each([&](Counter counter, const Reading& reading) {
            const Reading& measured = (*point.measured)[counter];
            const std::string_view key = key_of(counter);
            if (key.starts_with("shared_atomic"))
                fmt::print("{}: {} {}\n", point.name, key,
                           is_number(measured) ? number_in(measured) : -1);
            if (!std::holds_alternative<std::uint64_t>(reading) || !is_number(measured)) return;
            if (point.estimates && point.estimates->of(counter)) return;  // not exact
            ++compared;
            if (key.starts_with("shared") && !key.ends_with("requests")) {
                EXPECT_GE(number_in(measured), number_in(reading)) << point.name << " " << key;
                const Counter passes = key.starts_with("shared_load")
                                           ? Counter::shared_load_wavefronts
                                           : Counter::shared_store_wavefronts;
                const double waiting = 0.1 * number_in(point.predicted[passes]);
                EXPECT_LE(number_in(measured), number_in(reading) + waiting + 16)
                    << point.name << " " << key;
            } else {
                EXPECT_EQ(number_in(measured), number_in(reading)) << point.name << " " << key;
            }
        });
    }
    EXPECT_GT(compared, 60u);
}

TEST_F(NearOnGpu, a_tiled_transpose_is_a_transpose) {
    for (const char* variant : {"tile", "padded", "swizzled"}) {
        for (const std::string_view type : element_type_list())
            if (bytes_of(*find_element_type(type)) <= 16)
                run_and_verify(launcher(),
                               tiled_transpose(variant, 96, *find_element_type(type), 1 << 20));
        for (const std::uint32_t block : {32u, 128u, 512u, 1024u})
            run_and_verify(launcher(),
                           tiled_transpose(variant, 1024, ElementType::f32, 1 << 22, block));
        for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::f64})
            run_and_verify(launcher(), tiled_transpose(variant, 192, type, 1 << 20, 256, 64));
        for (const std::string_view type : element_type_list())
            if (bytes_of(*find_element_type(type)) <= 16)
                run_and_verify(launcher(), tiled_transpose(variant, 48, *find_element_type(type),
                                                           1 << 20, 256, 16));
        for (const std::uint32_t block : {16u, 32u, 128u})
            run_and_verify(launcher(),
                           tiled_transpose(variant, 1040, ElementType::f32, 1 << 22, block, 16));
        // Compared where it lies.
        run_and_verify(launcher(), tiled_transpose(variant, 4096, ElementType::f32, 64 << 20));
    }
}

TEST_F(NearOnGpu, two_elements_in_each_others_place_are_noticed) {
    for (const std::uint64_t size_bytes : {1ull << 16, 64ull << 20}) {
        const Plan plan = tiled_transpose("padded", 64, ElementType::f32, size_bytes);
        const auto launch = launcher().prepare(plan);
        launch->launch();
        const DriverLibrary library = load_driver();
        const std::uint64_t b = launch->placement().base_addresses[2];
        std::array<std::uint32_t, 2> pair{};
        ASSERT_EQ(library.api->copy_to_host(pair.data(), b + 64 * 4, 8), CUDA_SUCCESS);
        std::swap(pair[0], pair[1]);
        ASSERT_EQ(library.api->copy_to_device(b + 64 * 4, pair.data(), 8), CUDA_SUCCESS);
        try {
            launch->verify();
            ADD_FAILURE() << "not noticed in " << size_bytes << " bytes";
        } catch (const PointError& error) {
            EXPECT_NE(std::string(error.what()).find("array b, element 64: "), std::string::npos)
                << error.what();
        }
    }
}

// Counts what `coalprof verify` counts.
void expect_agreement(const VerifyScope& scope, const Machine& machine, KernelLauncher& launcher,
                      CounterCollector& collector) {
    CatalogPoints points(scope, machine);
    VerifyJudge judge(nullptr);
    run_on_device(
        points,
        {.launcher = launcher,
         .collector = &collector,
         .no_counters = {},
         .wanted = [](AccessSet accesses) { return counters_of(CounterSet::basic, accesses); },
         .repeats = 0},
        judge);
    EXPECT_GT(judge.report().cases.front().held(), judge.report().points);
    EXPECT_EQ(judge.report().code(), ExitCode::done) << gate_text(judge.report());
}

TEST_F(NearOnGpu, counters_of_shared_memory_are_the_models) {
    COALPROF_NEEDS_COUNTERS();
    VerifyScope scope;
    scope.patterns = {"shared-stride", "shared-pad", "shared-broadcast", "shared-random"};
    scope.types = "u8,f32,f64,f32x4";
    scope.size = "256KiB";
    scope.ops = "load,store,rmw";
    expect_agreement(scope, machine(), launcher(), collector());
}

TEST_F(NearOnGpu, counters_of_constant_memory_are_the_models) {
    COALPROF_NEEDS_COUNTERS();
    VerifyScope scope;
    scope.patterns = {"constant"};
    scope.size = "256KiB";
    scope.most_values = 6;
    scope.ops = "load";
    expect_agreement(scope, machine(), launcher(), collector());
}

TEST_F(NearOnGpu, counters_of_local_memory_are_the_models) {
    COALPROF_NEEDS_COUNTERS();
    VerifyScope scope;
    scope.patterns = {"local"};
    scope.size = "256KiB";
    scope.most_values = 6;
    scope.ops = "load,store,rmw";
    expect_agreement(scope, machine(), launcher(), collector());
}

TEST_F(NearOnGpu, counters_of_a_tiled_transpose_are_the_models) {
    COALPROF_NEEDS_COUNTERS();
    VerifyScope scope;
    scope.patterns = {"transpose"};
    scope.types = "u8,f32,f64,f32x4";
    scope.size = "1MiB";
    scope.ops = "copy";
    expect_agreement(scope, machine(), launcher(), collector());
}

// What the candidates for constant_requests say, with the table's loads and without: the model is
// held against the difference. Printed, so that one run tells which metric counts passes.
TEST_F(NearOnGpu, some_metric_counts_the_passes_of_constant_memory) {
    COALPROF_NEEDS_COUNTERS();
    std::vector<std::string> metrics;
    for (const char* name :
         {"idc__requests.sum", "smsp__inst_executed_op_ldc_pred_on_any.sum",
          "sm__idc_divergent_instruction_replays.sum", "sm__idc_divergent_instructions.sum"})
        if (collector().metrics().has(name)) metrics.emplace_back(name);
    for (const ElementType type : {ElementType::f32, ElementType::f32x4})
        for (const std::uint64_t addresses : {1u, 2u, 5u, 32u}) {
            const Plan plan = plan_of("constant", addresses, Op::load, type, 1, 1 << 18);
            const auto launch = launcher().prepare(plan);
            const auto values = collector().collect_metrics(
                metrics, 2, [&](std::size_t) { launch->launch(); },
                [&](std::size_t range) {
                    range == 0 ? launch->launch() : launch->launch_without_constants();
                });
            const Readings predicted = Predictor(machine()).predict_launch(plan, {});
            fmt::print("{} {}: predicted {}", name_of(type), addresses,
                       number_in(predicted[Counter::constant_requests]));
            for (std::size_t k = 0; k < metrics.size(); ++k)
                fmt::print(", {} {} less {}", metrics[k], values[0].values[k], values[1].values[k]);
            fmt::print("\n");
            EXPECT_EQ(values[0].values[0] - values[1].values[0],
                      number_in(predicted[Counter::constant_requests]));
        }
}

// The conflict counter of the hardware is said to count waiting for the data stage too. What it and
// the count of instrumented code say where warps are many, with traffic of global memory beside.
TEST_F(NearOnGpu, prints_what_the_metrics_of_shared_memory_say_of_many_warps) {
    COALPROF_NEEDS_COUNTERS();
    std::vector<std::string> metrics;
    for (const char* name : {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                             "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                             "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"})
        if (collector().metrics().has(name)) metrics.emplace_back(name);
    for (const Plan& plan : {plan_of("shared-stride", 1, Op::load, ElementType::f32, 1, 4 << 20),
                             plan_of("shared-stride", 2, Op::load, ElementType::f32, 1, 4 << 20),
                             tiled_transpose("tile", 1024, ElementType::f32, 4 << 20),
                             tiled_transpose("padded", 1024, ElementType::f32, 4 << 20)}) {
        const auto launch = launcher().prepare(plan);
        const auto values = collector().collect_metrics(
            metrics, 3, [&](std::size_t) { launch->launch(); },
            [&](std::size_t) { launch->launch(); });
        const Readings predicted = Predictor(machine()).predict_launch(plan, {});
        fmt::print("{} {} {}: predicted wavefronts {}, conflicts {}\n", plan.pattern, plan.value,
                   plan.options.variant, number_in(predicted[Counter::shared_load_wavefronts]),
                   number_in(predicted[Counter::shared_load_conflicts]));
        for (std::size_t k = 0; k < metrics.size(); ++k)
            fmt::print("  {}: {} {} {}\n", metrics[k], values[0].values[k], values[1].values[k],
                       values[2].values[k]);
    }
}

// The lesson of the tile: as fast as a copy with padding. Timing belongs to no test; what is
// printed here is for whoever runs it.
TEST_F(NearOnGpu, prints_the_bandwidth_of_the_three_transposes_beside_a_copy) {
    const auto bandwidth = [&](const Plan& plan) {
        const double seconds = launcher().prepare(plan)->time(10, CacheState::cold).median_seconds;
        return static_cast<double>(plan.program.useful_bytes) / seconds / 1e9;
    };
    constexpr std::uint64_t size_bytes = 256 << 20;
    fmt::print("copy      {:.0f} GB/s\n",
               bandwidth(plan_of("offset", 0, Op::copy, ElementType::f32, 4, size_bytes)));
    fmt::print("naive     {:.0f} GB/s\n",
               bandwidth(plan_of("transpose", 8192, Op::copy, ElementType::f32, 4, size_bytes)));
    for (const char* variant : {"tile", "padded", "swizzled"})
        for (const std::uint64_t tile : {16u, 32u, 64u})
            for (const std::uint32_t block : {128u, 256u, 512u, 1024u}) {
                if (block > tile * tile) continue;
                fmt::print("{:8} {} {:4} threads  {:.0f} GB/s\n", variant, tile, block,
                           bandwidth(tiled_transpose(variant, 8192, ElementType::f32, size_bytes,
                                                     block, tile)));
            }
}

}  // namespace
}  // namespace coalprof
