// Lines of a warps file a second: the parser alone, and parser with the model. Text in memory, so
// that disks and pipes are left out; scripts/bench times the program on a real file besides.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "bench/random_warps.h"
#include "core/access/warps_file.h"
#include "core/count/predict.h"
#include "core/text/byte_source.h"
#include "text_source.h"

namespace coalprof::bench {
namespace {

std::string random_warps_text() {
    std::string text;
    for (const WarpAccess& warp : make_warps(Shape::random, AccessKind::load, 4)) {
        text += "w load 4";
        for (const std::uint64_t address : warp.addresses) text += fmt::format(" {}", address);
        text += '\n';
    }
    return text;
}

void parse_lines(benchmark::State& state) {
    const std::string text = random_warps_text();
    for (auto _ : state) {
        const auto source = bytes_of_text(text);
        WarpsReader reader(*source, "text");
        for (WarpLine line; reader.next(line);) benchmark::DoNotOptimize(line);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(warps_in_set));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse_lines)->Name("warps/parse")->Unit(benchmark::kMillisecond);

void parse_and_predict_lines(benchmark::State& state) {
    const std::string text = random_warps_text();
    const Predictor predictor(find_machine("h200"));
    Readings readings;
    for (auto _ : state) {
        const auto source = bytes_of_text(text);
        WarpsReader reader(*source, "text");
        for (WarpLine line; reader.next(line);) {
            predictor.predict_warp(line.access, readings);
            benchmark::DoNotOptimize(readings);
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(warps_in_set));
}
BENCHMARK(parse_and_predict_lines)->Name("warps/parse_and_model")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace coalprof::bench
