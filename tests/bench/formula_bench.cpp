// A formula's index for 32 lanes at once, against one thread at a time; the model behind it; and a
// launch of 2^30 threads against one of 2^20.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <string>

#include "core/count/coalescer.h"
#include "core/formula/formula.h"
#include "core/formula/launch_check.h"
#include "core/formula/user_formula.h"
#include "core/machine/machine.h"

namespace coalprof::bench {
namespace {

Program program_of(const std::string& text, std::uint64_t threads) {
    FormulaLaunch launch;
    launch.shape.size_bytes = threads * 4;
    return make_formula_program(std::make_shared<const ParsedFormula>(parse_formula(text, {})),
                                launch);
}

const UserFormula& formula_in(const Program& program) {
    return dynamic_cast<const UserFormula&>(*program.instructions[0].formula);
}

constexpr std::uint64_t threads = 1 << 20;

void time_threads(benchmark::State& state, const char* text) {
    const Program program = program_of(text, threads);
    const UserFormula& formula = formula_in(program);
    std::uint64_t first = 0;
    for (auto _ : state) {
        for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
            benchmark::DoNotOptimize(evaluate_thread(
                formula.formula().nodes, formula.access().index, formula.scope(), first + lane));
        first = (first + warp_lanes) % threads;
    }
}

void time_lanes(benchmark::State& state, const char* text) {
    const Program program = program_of(text, threads);
    const UserFormula& formula = formula_in(program);
    std::array<std::uint64_t, warp_lanes> elements;
    std::uint64_t first = 0;
    for (auto _ : state) {
        formula.evaluate(first, warp_lanes, elements.data());
        benchmark::DoNotOptimize(elements);
        first = (first + warp_lanes) % threads;
    }
}

void time_lanes_and_model(benchmark::State& state, const char* text) {
    const Program program = program_of(text, threads);
    const Coalescer coalescer(*find_machine("h200").rules);
    std::uint64_t first = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(coalescer.count(
            access_of_warp(program, {}, program.instructions[0], first, warp_lanes)));
        first = (first + warp_lanes) % threads;
    }
}

void time_launch(benchmark::State& state, const char* text) {
    const std::uint64_t launched = 1ull << state.range(0);
    for (auto _ : state) benchmark::DoNotOptimize(program_of(text, launched));
}

// None of these repeats; each has 9 to 11 numbers, names and operators.
#define COALPROF_FORMULA(name, text)                                     \
    BENCHMARK_CAPTURE(time_threads, name, text)->Name("threads/" #name); \
    BENCHMARK_CAPTURE(time_lanes, name, text)->Name("lanes/" #name);     \
    BENCHMARK_CAPTURE(time_lanes_and_model, name, text)->Name("model/" #name)

COALPROF_FORMULA(xor_shift, "(i ^ (i >> 3)) * 3 + lane");
COALPROF_FORMULA(clamped, "max(i*7 - 100, 0) ^ (i >> 2)");
COALPROF_FORMULA(remainders, "(i*1103515245 + 12345) % 1048573 + i % 7");
COALPROF_FORMULA(chosen, "i < 500000 ? i*3 : i % 4093");

BENCHMARK_CAPTURE(time_launch, affine, "i*3 + 7")->Name("launch/affine")->Arg(20)->Arg(30);
BENCHMARK_CAPTURE(time_launch, column, "i%1024*2000000 + i/1024")
    ->Name("launch/column")
    ->Arg(20)
    ->Arg(30);

}  // namespace
}  // namespace coalprof::bench
