// The model of one warp against the obvious way to count the same things with std::set.
// scripts/bench prints the ratios.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/count_with_sets.h"
#include "bench/random_warps.h"
#include "core/count/coalescer.h"
#include "core/count/predict.h"

namespace coalprof::bench {
namespace {

void time_sets(benchmark::State& state, Shape shape, AccessKind kind, std::uint32_t width) {
    const auto warps = make_warps(shape, kind, width);
    const TagBanks banks = *find_machine("h200").rules->tag_banks;
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(count_with_sets(warps[next++ % warps_in_set], banks));
    }
}

void time_model(benchmark::State& state, Shape shape, AccessKind kind, std::uint32_t width) {
    const Rules& rules = *find_machine("h200").rules;
    const Coalescer coalescer(rules);
    const auto warps = make_warps(shape, kind, width);
    for (const WarpAccess& warp : warps) {
        const GlobalCounts counts = coalescer.count(warp);
        if (count_with_sets(warp, *rules.tag_banks) !=
            ReferenceCounts{counts.sectors, counts.lines, counts.unique_bytes,
                            counts.tag_wavefronts, counts.data_wavefronts}) {
            state.SkipWithError("the model and std::set disagree");
            return;
        }
    }
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(coalescer.count(warps[next++ % warps_in_set]));
    }
}

// Pairs: scripts/bench divides sets/X by model/X.
#define COALPROF_PAIR(name, ...)                                          \
    BENCHMARK_CAPTURE(time_sets, name, __VA_ARGS__)->Name("sets/" #name); \
    BENCHMARK_CAPTURE(time_model, name, __VA_ARGS__)->Name("model/" #name)

COALPROF_PAIR(random_load, Shape::random, AccessKind::load, 4);
COALPROF_PAIR(random_wide_load, Shape::random, AccessKind::load, 16);
COALPROF_PAIR(strided_load, Shape::strided, AccessKind::load, 4);
COALPROF_PAIR(contiguous_load, Shape::contiguous, AccessKind::load, 4);
COALPROF_PAIR(contiguous_wide_load, Shape::contiguous, AccessKind::load, 16);
COALPROF_PAIR(random_byte_load, Shape::random, AccessKind::load, 1);

// Everything that is predicted of one warp, by the rules of each generation.
void time_generation(benchmark::State& state, const char* machine) {
    const Predictor predictor(find_machine(machine));
    const auto warps = make_warps(Shape::random, AccessKind::load, 4);
    Readings readings;
    std::size_t next = 0;
    for (auto _ : state) {
        predictor.predict_warp(warps[next++ % warps_in_set], readings);
        benchmark::DoNotOptimize(readings);
    }
}
BENCHMARK_CAPTURE(time_generation, c870, "c870")->Name("generation/c870");
BENCHMARK_CAPTURE(time_generation, c1060, "c1060")->Name("generation/c1060");
BENCHMARK_CAPTURE(time_generation, c2050, "c2050")->Name("generation/c2050");
BENCHMARK_CAPTURE(time_generation, k40, "k40")->Name("generation/k40");
BENCHMARK_CAPTURE(time_generation, gtx1080, "gtx1080")->Name("generation/gtx1080");
BENCHMARK_CAPTURE(time_generation, v100, "v100")->Name("generation/v100");
BENCHMARK_CAPTURE(time_generation, h200, "h200")->Name("generation/h200");

}  // namespace
}  // namespace coalprof::bench
