// Random launches over grids of up to three dimensions on a real GPU, global and shared memory
// together: every counter that the model gives as exact is what the GPU counts. Skipped with the
// reason where there is no GPU or no permission.
//
// COALPROF_GPU_LAUNCHES=20000 takes that many launches, COALPROF_GPU_SEED=2 others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/count/predict.h"
#include "core/run/agreement.h"
#include "core/run/device_backend.h"
#include "core/sim/estimate.h"
#include "cupti/metric_table.h"
#include "gpu/on_gpu.h"
#include "gpu/random_grids.h"
#include "kernels/compose.h"
#include "kernels/nvrtc_here.h"
#include "kernels/plan_launch.h"
#include "kernels/workbench.h"

namespace coalprof {
namespace {

// Launches with the same instructions are counted in one session. Each line: once for a few.
const std::vector<std::vector<std::string_view>> instruction_lists{
    {"load"},
    {"store"},
    {"atomic"},
    {"reduce"},
    {"shared.load"},
    {"shared.store"},
    {"shared.atomic"},
    {"shared.reduce"},
    {"load", "store"},
    {"load", "load", "store"},
    {"load", "atomic"},
    {"store", "reduce"},
    {"load", "shared.store"},
    {"shared.load", "store"},
    {"shared.store", "shared.load"},
    {"load", "shared.atomic"},
    {"load", "shared.store", "shared.load", "store"},
    {"load", "shared.reduce", "shared.load", "reduce"},
};
constexpr std::size_t launches_of_a_formula = 4;
constexpr std::size_t most_launches_of_a_batch = 1000;  // CUPTI's ranges of a session
constexpr std::uint64_t most_printed_of_a_counter = 8;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Calls work(k) for every k < count on all processors.
template <typename Work>
void on_all_processors(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::future<void>> workers;
    for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k)
        workers.push_back(std::async(std::launch::async, [&] {
            for (std::size_t item = next++; item < count; item = next++) work(item);
        }));
    for (auto& worker : workers) worker.get();
}

// Launches with the same instructions, their kernels compiled.
struct GridBatch {
    GridBatch(const NvrtcLibrary& nvrtc, int compute_capability)
        : compiler(ready(nvrtc), compute_capability) {}

    std::size_t list = 0;
    std::vector<PlannedPoint> points;
    Compiler compiler;
};

struct GridTotals {
    std::uint64_t launches = 0;
    std::uint64_t compared = 0;
    std::uint64_t differ = 0;
    std::uint64_t of_hardware = 0;  // as predicted by the hardware's count, not by patched code's
    std::uint64_t missing = 0;
    std::map<std::string, std::uint64_t> failures;  // reasons, and how many launches had them
    std::map<Counter, std::uint64_t> differ_in;
};

class GridsOnGpu : public GpuTest {
 protected:
    // Launches `first` and following of those with instruction list `list`.
    std::unique_ptr<GridBatch> made_batch(std::size_t list, std::size_t first, std::size_t count) {
        const DeviceFacts& facts = launcher().device();
        auto batch = std::make_unique<GridBatch>(nvrtc_, facts.major * 10 + facts.minor);
        batch->list = list;
        const std::size_t formulas = (count + launches_of_a_formula - 1) / launches_of_a_formula;
        std::vector<std::vector<PlannedPoint>> parts(formulas);
        on_all_processors(formulas, [&](std::size_t k) {
            testing::RandomGrids random(seed_ * 1'000'003 + list * 100'003 + first + k, machine());
            parts[k] =
                random.launches(instruction_lists[list],
                                std::min(launches_of_a_formula, count - k * launches_of_a_formula));
            for (const PlannedPoint& point : parts[k])
                for (const CompileRequest& request :
                     compile_requests(point.plan, block_limits(facts)))
                    if (request.source.find(near_check_kernel) == std::string::npos)
                        static_cast<void>(batch->compiler.compile(request));
        });
        for (auto& part : parts)
            std::move(part.begin(), part.end(), std::back_inserter(batch->points));
        return batch;
    }

    void count(GridBatch& batch, GridTotals& totals) {
        const DriverApi driver = *load_driver().api;
        const DeviceFacts& facts = launcher().device();
        Workbench bench(driver, device_at(driver, start_driver(driver), facts.index), facts,
                        batch.compiler);
        std::vector<Point> points(batch.points.size());
        std::vector<Placement> placements(points.size());
        for (std::size_t k = 0; k < points.size(); ++k) {
            PlanLaunch launch(bench, batch.points[k].plan);
            launch.launch();  // its code is loaded before any session
            placements[k] = launch.placement();
        }
        on_all_processors(points.size(), [&](std::size_t k) {
            const PlannedPoint& planned = batch.points[k];
            points[k].predicted =
                Predictor(planned.machine).predict_launch(planned.plan, placements[k]);
            points[k].estimates =
                add_estimates(planned.machine, planned.plan, CacheState::warm, points[k].predicted);
        });
        std::unique_ptr<PlanLaunch> launch;
        const AccessSet accesses = accesses_of(batch.points.front().plan.program);
        const auto readings = collector().collect(
            counters_of(CounterSet::memory, accesses), points.size(),
            [&](std::size_t k) {
                launch.reset();  // its memory serves the next
                launch = std::make_unique<PlanLaunch>(bench, batch.points[k].plan);
            },
            [&](std::size_t) { launch->launch(); });
        for (std::size_t k = 0; k < points.size(); ++k) {
            points[k].measured.emplace();
            if (k < readings.size()) merge(readings[k], accesses, *points[k].measured);
            add(batch.points[k].name, points[k], totals,
                [&](const std::vector<std::string>& metrics) {
                    return values_of(bench, batch.points[k], metrics);
                });
        }
    }

    // Throws CountersError.
    static std::vector<double> values_of(Workbench& bench, const PlannedPoint& point,
                                         const std::vector<std::string>& metrics) {
        PlanLaunch launch(bench, point.plan);
        return collector()
            .collect_metrics(
                metrics, 1, [&](std::size_t) { launch.launch(); },
                [&](std::size_t) { launch.launch(); })
            .at(0)
            .values;
    }

    std::uint64_t seed_ = number_from("COALPROF_GPU_SEED", 1);
    NvrtcLibrary nvrtc_;

 private:
    // From what counters of shared loads are made: the hardware counts waiting as well, in passes
    // and in conflicts; patched code does not wait, and may judge wide loads wrongly. Where both
    // could be right, coalprof takes patched code's.
    static inline const std::vector<std::string> of_shared_loads{
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"};

    static bool is_of_hardware(const Disagreement& found, const std::vector<double>& values) {
        if (values.size() != of_shared_loads.size()) return false;
        const auto predicted = static_cast<double>(found.predicted);
        return (found.counter == Counter::shared_load_wavefronts && predicted == values[0]) ||
               (found.counter == Counter::shared_load_conflicts && predicted == values[1]);
    }

    // Prints what differs, up to so many of a counter.
    template <typename ValuesOf>
    static void add(const std::string& name, const Point& point, GridTotals& totals,
                    ValuesOf values_of) {
        const Agreement agreement = agreement_of(point);
        ++totals.launches;
        totals.compared += agreement.compared;
        totals.missing += agreement.missing;
        if (agreement.missing != 0)
            point.measured->each([&](Counter counter, const Reading& reading) {
                if (const auto* none = std::get_if<Unavailable>(&reading))
                    ++totals.failures[fmt::format("{}: {}", key_of(counter), none->reason)];
            });
        std::vector<double> values;
        if (!agreement.disagreements.empty() && std::ranges::all_of(of_shared_loads, [](auto& one) {
                return collector().metrics().has(one);
            })) {
            try {
                values = values_of(of_shared_loads);
            } catch (const CountersError& error) {
                fmt::print("    {}\n", error.what());
            }
        }
        for (const Disagreement& found : agreement.disagreements) {
            const bool of_hardware = is_of_hardware(found, values);
            ++(of_hardware ? totals.of_hardware : totals.differ);
            if (++totals.differ_in[found.counter] > most_printed_of_a_counter) continue;
            fmt::print("  {}\n    {}{}\n    passes, conflicts, passes of patched code: {}\n", name,
                       describe(found),
                       of_hardware ? ", the hardware's own counter as predicted" : "",
                       fmt::join(values, ", "));
        }
    }
};

TEST_F(GridsOnGpu, exact_counters_of_random_launches_are_what_the_gpu_counts) {
    COALPROF_NEEDS_COUNTERS();
    nvrtc_ = load_nvrtc(static_cast<int>(launcher().device().driver_version));
    const std::size_t wanted = number_from("COALPROF_GPU_LAUNCHES", 360);
    const std::size_t lists = instruction_lists.size();
    struct Share {
        std::size_t list, first, count;
    };
    std::vector<Share> shares;
    for (std::size_t list = 0; list < lists; ++list) {
        const std::size_t own = (wanted + list) / lists;  // together: as many as wanted
        for (std::size_t first = 0; first < own; first += most_launches_of_a_batch)
            shares.push_back({list, first, std::min(most_launches_of_a_batch, own - first)});
    }
    const auto made = [&](std::size_t k) {
        return made_batch(shares[k].list, shares[k].first, shares[k].count);
    };
    const auto start = std::chrono::steady_clock::now();
    GridTotals totals;
    std::unique_ptr<GridBatch> batch = made(0);
    for (std::size_t k = 0; k < shares.size(); ++k) {
        // The next ones are compiled while these are counted.
        std::future<std::unique_ptr<GridBatch>> next;
        if (k + 1 < shares.size()) next = std::async(std::launch::async, made, k + 1);
        const GridTotals before = totals;
        count(*batch, totals);
        launcher().activate();  // a workbench takes its context with it
        std::string name;
        for (const std::string_view one : instruction_lists[batch->list])
            name += fmt::format("{}{}", name.empty() ? "" : ", ", one);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        fmt::print("{}: {} launches, {} of {} counters differ ({:.0f} s)\n", name,
                   totals.launches - before.launches, totals.differ - before.differ,
                   totals.compared - before.compared, taken.count());
        static_cast<void>(std::fflush(stdout));
        if (next.valid()) batch = next.get();
    }
    for (const auto& [reason, times] : totals.failures)
        fmt::print("not measured, {} times: {}\n", times, reason);
    for (const auto& [counter, times] : totals.differ_in)
        fmt::print("{} differs {} times\n", key_of(counter), times);
    fmt::print(
        "{} of {} counters of {} random grids agree, {} could not be measured; of {} the "
        "hardware's own counter agrees and patched code's differs\n",
        totals.compared - totals.differ, totals.compared, totals.launches, totals.missing,
        totals.of_hardware);
    EXPECT_EQ(totals.launches, wanted);
    EXPECT_EQ(totals.differ, 0u);
    EXPECT_LE(totals.of_hardware, totals.compared / 1000);
    EXPECT_EQ(totals.missing, 0u);
    EXPECT_GT(totals.compared, 3 * totals.launches);
}

}  // namespace
}  // namespace coalprof
