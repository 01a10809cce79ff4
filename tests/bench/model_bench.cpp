// The model of one warp against the obvious way to count the same things with std::set.
// scripts/bench prints the ratios.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <set>

#include "bench/random_warps.h"
#include "core/model/coalescer.h"

namespace coalprof::bench {
namespace {

struct ReferenceCounts {
    std::uint64_t sectors = 0;
    std::uint64_t lines = 0;
    std::uint64_t unique_bytes = 0;
};

// Addresses are multiples of the width, at most 16 bytes: an element lies within one sector.
ReferenceCounts count_with_sets(const WarpAccess& access) {
    std::set<std::uint64_t> sectors, lines, elements;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) == 0) continue;
        const std::uint64_t address = access.addresses[lane];
        sectors.insert(address / sector_bytes);
        lines.insert(address / line_bytes);
        elements.insert(address);
    }
    return {sectors.size(), lines.size(), elements.size() * access.width_bytes};
}

void time_sets(benchmark::State& state, Shape shape, AccessKind kind, std::uint32_t width) {
    const auto warps = make_warps(shape, kind, width);
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(count_with_sets(warps[next++ % warps_in_set]));
    }
}

void time_model(benchmark::State& state, Shape shape, AccessKind kind, std::uint32_t width) {
    const Coalescer coalescer(*find_machine("h200").rules);
    const auto warps = make_warps(shape, kind, width);
    for (const WarpAccess& warp : warps) {
        const ReferenceCounts expected = count_with_sets(warp);
        const GlobalCounts counts = coalescer.count(warp);
        if (counts.sectors != expected.sectors || counts.lines != expected.lines ||
            counts.unique_bytes != expected.unique_bytes) {
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
COALPROF_PAIR(random_store, Shape::random, AccessKind::store, 4);
COALPROF_PAIR(strided_load, Shape::strided, AccessKind::load, 4);
COALPROF_PAIR(contiguous_load, Shape::contiguous, AccessKind::load, 4);
COALPROF_PAIR(contiguous_wide_load, Shape::contiguous, AccessKind::load, 16);
COALPROF_PAIR(random_byte_load, Shape::random, AccessKind::load, 1);

}  // namespace
}  // namespace coalprof::bench
