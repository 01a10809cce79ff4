// Launches in which lanes have nothing to do: tails, rows that are no multiple of a warp, formulas
// with conditions, blocks that are no multiple of a warp. Every counter that the model predicts is
// what the GPU counts. Skipped with the reason where there is no GPU or no permission.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/formula/formula.h"
#include "core/judge/gate_formats.h"
#include "core/judge/verify.h"
#include "core/run/runs.h"
#include "core/text/range.h"
#include "cupti/metric_table.h"
#include "gpu/on_gpu.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

class DivergentOnGpu : public GpuTest {};

// Which lanes take part: one in 43, part of every warp, whole warps, blocks, the first, any.
constexpr std::array conditions{
    "i % 43 == 0",
    "lane < 7",
    "warp % 2",
    "bid % 3 == 1",
    "i == 0",
    "hash(i, 5) == 0",
    "i % 1000 == 999",
    "i < n - 77",
    "tid && i % 64 < 33",
    "lane == bid % 32",
    "i % 5 && i / 7 % 3",
    "hash(i / 32, 4) == 1",
};
// Indices that lanes compute on ways of their own, and plain ones.
constexpr std::array indices{"i", "i % 2 ? i : n - 1 - i", "i / 3", "lane ? i / lane : i",
                             "hash(i, n)"};
constexpr std::array<std::uint32_t, 10> blocks{32, 40, 64, 96, 100, 128, 256, 333, 512, 1000};
constexpr std::array<std::uint32_t, 4> elements_per_thread{1, 2, 4, 8};
constexpr std::array pitches{"none", "auto"};
constexpr std::size_t sizes_of_each = 3;  // launches of one kernel

class Launches {
 public:
    explicit Launches(const Machine& machine) : machine_(machine) {}

    void add_patterns(Op op, std::uint32_t per_thread) {
        for (const PatternInfo& pattern : global_patterns()) {
            // Guards of their own: as many kernels as all other patterns have in the mean.
            const std::size_t times = pattern.name == "row" ? 4 : 1;
            for (std::size_t k = 0; k < times; ++k) add_pattern(pattern, op, per_thread);
        }
    }

    void add_formulas(Op op, std::uint32_t per_thread) {
        for (const char* condition : conditions) {
            Plan plan = random_plan("formula", op, per_thread);
            const std::string index = pick(indices);
            const std::string text = op == Op::copy || op == Op::add
                                         ? fmt::format("load: a[{0}] if {1}; store: b[i] if {2}",
                                                       index, condition, pick(conditions))
                                         : fmt::format("a[{}] if {}", index, condition);
            add_sizes(plan, text, [&](Plan& sized) {
                sized.program = make_formula_program(
                    std::make_shared<const ParsedFormula>(parse_formula(text, {})),
                    {.op = sized.op, .type = sized.type, .shape = sized.shape, .values = {}});
            });
        }
    }

    std::vector<PlannedPoint> points;

 private:
    template <typename List>
    typename List::value_type pick(const List& list) {
        return list[random_() % list.size()];
    }

    Plan random_plan(std::string pattern, Op op, std::uint32_t per_thread) {
        constexpr std::array numbers{ElementType::u32, ElementType::u64, ElementType::f32,
                                     ElementType::f64};
        constexpr std::array any{ElementType::u8,    ElementType::u16,   ElementType::f32,
                                 ElementType::f64,   ElementType::u32,   ElementType::f32x2,
                                 ElementType::f32x4, ElementType::f64x2, ElementType::u64};
        Plan plan;
        plan.pattern = std::move(pattern);
        plan.op = op;
        plan.type = op == Op::atomic || op == Op::reduce ? pick(numbers) : pick(any);
        plan.shape.block = pick(blocks);
        plan.shape.per_thread = per_thread;
        return plan;
    }

    void add_pattern(const PatternInfo& pattern, Op op, std::uint32_t per_thread) {
        Plan plan = random_plan(std::string(pattern.name), op, per_thread);
        const std::uint32_t width = bytes_of(plan.type);
        plan.value = pick(parse_sized_range(pattern.default_range(width), "--range").values);
        if (pattern.name == "row") {
            plan.value = width * (1 + random_() % 900);  // 1 to 900 columns
            plan.options.pitch = pick(pitches);
        }
        add_sizes(plan, fmt::format("{}={}", pattern.name, plan.value),
                  [](Plan& sized) { build_program(sized); });
    }

    // Threads: 2^6 to 2^18, seldom a multiple of anything.
    template <typename Build>
    void add_sizes(const Plan& plan, const std::string& name, Build build) {
        for (std::size_t k = 0; k < sizes_of_each; ++k) {
            Plan sized = plan;
            const double power = 6 + static_cast<double>(random_() % 1000) * 12e-3;
            sized.shape.size_bytes =
                static_cast<std::uint64_t>(std::exp2(power)) * bytes_of(plan.type);
            try {
                build(sized);
            } catch (const UsageError&) {
                continue;  // this op, type or size does not fit
            }
            points.push_back(
                {.plan = sized,
                 .machine = machine_,
                 .name = fmt::format("{} {} {} block {} x{}, {} bytes", name, name_of(plan.op),
                                     name_of(plan.type), plan.shape.block, plan.shape.per_thread,
                                     sized.shape.size_bytes)});
        }
    }

    Machine machine_;
    std::mt19937_64 random_{43};
};

TEST_F(DivergentOnGpu, counters_are_as_predicted_whichever_lanes_take_part) {
    COALPROF_NEEDS_COUNTERS();
    Launches launches(machine());
    for (const std::string_view op : word_list<Op>())
        for (const std::uint32_t per_thread : elements_per_thread) {
            launches.add_patterns(*find_word<Op>(op), per_thread);
            launches.add_formulas(*find_word<Op>(op), per_thread);
        }
    ListedPoints points(std::move(launches.points));
    VerifyJudge judge(nullptr);
    run_on_device(
        points,
        {.launcher = launcher(),
         .collector = &collector(),
         .no_counters = {},
         .wanted = [](AccessSet accesses) { return counters_of(CounterSet::memory, accesses); },
         .repeats = 0},
        judge);
    const GateReport& report = judge.report();
    const std::uint64_t agreed = report.cases.front().held();
    const std::uint64_t broken = report.count(GateFinding::Kind::broken);
    fmt::print("{} of {} counters of {} divergent launches agree\n", agreed, agreed + broken,
               report.points);
    EXPECT_GT(report.points, 1500u);
    EXPECT_EQ(report.code(), ExitCode::done) << gate_text(report);
}

}  // namespace
}  // namespace coalprof
