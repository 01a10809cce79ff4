// No result depends on how many threads make it, nor on which of them comes first: the same JSON,
// byte for byte, with 1 to 8 threads that are delayed at random where they take work.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "core/program/natural_launches.h"
#include "core/run/runs.h"
#include "core/runtime/parallel.h"
#include "core/sweep/formula_sweep.h"
#include "core/sweep/warps_source.h"
#include "core/write/formats.h"
#include "core/write/temporary_folder.h"
#include "fewer_cases.h"
#include "stream_sink.h"

namespace coalprof {
namespace {

// Sleeps for some hundred microseconds now and then, differently in each thread and each time.
void delay() {
    static std::atomic<std::uint64_t> number{1};
    const std::uint64_t draw = number.fetch_add(1) * 0x9E37'79B9'7F4A'7C15ull >> 40;
    if (draw % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw / 4 % 256));
}

class DelayedThreads {
 public:
    explicit DelayedThreads(unsigned count) {
        set_thread_count(count);
        taking_hook = &delay;
    }
    ~DelayedThreads() {
        taking_hook = nullptr;
        set_thread_count(processors_of_this_process());
    }
    DelayedThreads(const DelayedThreads&) = delete;
    DelayedThreads& operator=(const DelayedThreads&) = delete;
};

constexpr std::array thread_counts{2u, 5u, 8u};

template <typename Write>
std::string json_of(const Write& write) {
    std::ostringstream stream;
    StreamSink bytes(stream);
    write(*find_format("json").make(bytes, {}));
    return stream.str();
}

std::string json_of(const KernelResult& result) {
    return json_of([&](ResultSink& sink) {
        sink.begin({});
        for (const Point& point : result.points) sink.point(point);
        sink.finish({.warnings = result.warnings, .findings = result.findings});
    });
}

std::string addresses_of(const KernelResult& result) {
    std::string all;
    for (const auto& warps : result.warps)
        for (const WarpAccess& warp : warps)
            all.append(reinterpret_cast<const char*>(warp.addresses.data()), sizeof warp.addresses);
    return all;
}

// Every third launch executes a sample of its blocks only.
TEST(Results, of_kernels_are_the_same_with_any_threads) {
    const PtxModule module = natural_module();
    std::size_t number = 0;
    for (const NaturalLaunch& launch : natural_launches()) {
        if (++number % fewer_cases != 0) continue;
        const auto predicted = [&](unsigned threads) {
            const DelayedThreads delayed(threads);
            Code code = make_code(module, *kernel_named(module, launch.kernel));
            merge_shared_accesses(code);
            BoundLaunch bound = bind(code, launch);
            for (std::size_t d = 0; d < 3; ++d)
                bound.launch.grid[d] = std::min(launch.grid[d], std::array{40u, 6u, 3u}[d]);
            PredictionOptions options{.threads = threads, .prices_findings = number % 4 == 0};
            if (number % 3 == 0) options.limits.steps_before_sampling = 20'000;
            return predict_kernel(code, bound.launch, bound.memory, find_machine("h200"), options);
        };
        const KernelResult alone = predicted(1);
        for (const unsigned threads : thread_counts) {
            const KernelResult result = predicted(threads);
            ASSERT_EQ(json_of(result), json_of(alone)) << launch.kernel << " " << threads;
            ASSERT_TRUE(addresses_of(result) == addresses_of(alone)) << launch.kernel;
        }
    }
    EXPECT_GE(number, 20u);
}

// The one of the first block, not of the thread that comes first: blocks 9, 10, ... never end.
TEST(Results, that_are_refused_are_refused_for_the_same_with_any_threads) {
    const std::string text = ptx_of(
        "mov.u32 %r1, %ctaid.x;\nld.param.u64 %rd1, [p0];\nmul.wide.u32 %rd3, %r1, 4;\n"
        "add.s64 %rd4, %rd1, %rd3;\nld.global.u32 %r3, [%rd4];\nsetp.lt.u32 %p1, %r3, 9;\n"
        "@%p1 bra END;\nmov.u32 %r4, %r3;\nAGAIN:\nadd.u32 %r4, %r4, 7;\nsetp.ne.u32 %p2, %r4, 0;\n"
        "@%p2 bra AGAIN;\nEND:\nret;\n");
    const auto refused = [&](unsigned threads) -> std::string {
        const DelayedThreads delayed(threads);
        Code code = code_of(text);
        BoundLaunch bound = bind_arguments(code, {"0=u32[64]=iota"});
        bound.launch.grid = {64, 1, 1};
        bound.launch.block = {32, 1, 1};
        try {
            predict_kernel(code, bound.launch, bound.memory, find_machine("h200"),
                           {.limits = {.steps_of_warp = 5000}, .threads = threads});
        } catch (const UsageError& error) {
            return error.what();
        }
        return "none";
    };
    const std::string alone = refused(1);
    EXPECT_NE(alone, "none");
    for (const unsigned threads : thread_counts) EXPECT_EQ(refused(threads), alone) << threads;
}

std::string json_of(PointSource& points, unsigned threads) {
    const DelayedThreads delayed(threads);
    return json_of([&](ResultSink& sink) {
        sink.begin({});
        EXPECT_EQ(run_on_model(points, sink), ExitCode::done);
    });
}

TEST(Results, of_sweeps_are_the_same_with_any_threads) {
    const TemporaryFolder folder;
    std::string warps;
    for (int line = 0; line < 2000; ++line) {
        warps += "w load 4 ";
        for (int lane = 0; lane < 32; ++lane)
            warps += std::to_string(4 * ((lane * (line % 7 + 1) + line) % 4096)) +
                     (lane < 31 ? " " : "\n");
    }
    folder.write("warps.txt", warps);
    using Source = std::function<std::unique_ptr<PointSource>()>;
    std::vector<Source> sources;
    const auto sweep_of = [](const std::string& pattern) {
        Sweep sweep;
        sweep.pattern = pattern;
        for (std::uint64_t value = 1; value <= 24; ++value) sweep.values.push_back(value);
        sweep.launch.shape.size_bytes = 4 << 20;
        sweep.machines = {find_machine("h200")};
        return sweep;
    };
    for (const char* const pattern : {"offset", "stride", "permute", "broadcast", "shared-stride"})
        sources.emplace_back([=] { return std::make_unique<SweepPoints>(sweep_of(pattern)); });
    for (const char* const text :
         {"a[i * k]", "a[i ^ k]", "a[hash(i, 7) % (k * 64)]", "a[i / k] if i % k < 3"})
        sources.emplace_back([=] {
            FormulaSweep formula;
            formula.text = text;
            formula.parameters = {{"k", {1, 2, 3, 4, 5, 6, 7, 8, 16, 32}}};
            formula.settings = sweep_of("");
            return std::make_unique<FormulaPoints>(std::vector{formula});
        });
    sources.emplace_back(
        [&] { return std::make_unique<WarpsSource>(folder / "warps.txt", find_machine("h200")); });
    ASSERT_EQ(sources.size(), 10u);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::string alone = json_of(*sources[i](), 1);
        for (const unsigned threads : thread_counts)
            ASSERT_EQ(json_of(*sources[i](), threads), alone) << i << " " << threads;
    }
}

}  // namespace
}  // namespace coalprof
