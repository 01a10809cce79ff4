// The model of one warp against the obvious way to count the same things with std::set.
// scripts/bench prints the ratios.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "bench/random_warps.h"
#include "core/model/coalescer.h"
#include "core/model/predict.h"

namespace coalprof::bench {
namespace {

struct ReferenceCounts {
    std::uint64_t sectors = 0;
    std::uint64_t lines = 0;
    std::uint64_t unique_bytes = 0;
    std::uint64_t tag_wavefronts = 0;
    std::uint64_t data_wavefronts = 0;
    bool operator==(const ReferenceCounts&) const = default;
};

std::uint32_t tag_bank_of(std::uint64_t line, const TagBanks& banks) {
    return 2 * (std::popcount(line & banks.high_mask) % 2) +
           std::popcount(line & banks.low_mask) % 2;
}

// What the model counts of a load, the way one writes it down first. Addresses are multiples of the
// width, at most 16 bytes: an element lies within one sector.
ReferenceCounts count_with_sets(const WarpAccess& access, const TagBanks& banks) {
    ReferenceCounts counts;
    std::set<std::uint64_t> sectors, elements;
    std::map<std::uint64_t, std::uint32_t> wavefront_of_line;
    std::map<std::uint32_t, std::uint32_t> lines_of_bank;
    // Distinct words that meet in a word bank, by wavefront, phase and word bank.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::set<std::uint64_t>>
        words;
    const std::uint32_t phases = access.width_bytes <= 4 ? 1 : access.width_bytes / 4;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) == 0) continue;
        const std::uint64_t address = access.addresses[lane];
        const std::uint64_t line = address / line_bytes;
        sectors.insert(address / sector_bytes);
        elements.insert(address);
        if (!wavefront_of_line.contains(line))
            wavefront_of_line[line] = lines_of_bank[tag_bank_of(line, banks)]++;
        for (std::uint64_t word = address / 4; word * 4 < address + access.width_bytes; ++word)
            words[{wavefront_of_line[line], lane / (warp_lanes / phases), word % 32}].insert(word);
    }
    counts.sectors = sectors.size();
    counts.lines = wavefront_of_line.size();
    counts.unique_bytes = elements.size() * access.width_bytes;
    for (const auto& [bank, lines] : lines_of_bank)
        counts.tag_wavefronts = std::max<std::uint64_t>(counts.tag_wavefronts, lines);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> passes;
    for (const auto& [place, different] : words) {
        std::uint64_t& most = passes[{std::get<0>(place), std::get<1>(place)}];
        most = std::max<std::uint64_t>(most, different.size());
    }
    for (const auto& [place, most] : passes) counts.data_wavefronts += most;
    return counts;
}

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
