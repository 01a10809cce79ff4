// The table against every chip that this machine's CUPTI knows.
#include "cupti/metric_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <regex>
#include <set>

#include "cupti/host.h"
#include "cupti/real_cupti.h"

namespace coalprof {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

struct Launch {
    const char* name;
    AccessSet accesses;
    std::size_t basic_passes = 1;
};

// What each --op, and each pattern of another memory, executes.
constexpr std::array launches{
    Launch{"load", {Access::global_load}},
    Launch{"store", {Access::global_store}},
    Launch{"rmw, copy, add", {Access::global_load, Access::global_store}},
    Launch{"atomic", {Access::global_atomic}},
    Launch{"reduce", {Access::global_reduce}},
    Launch{"shared", {Access::shared_load, Access::shared_store}, 2},  // one is instrumented
    Launch{"tiled transpose",
           {Access::global_load, Access::global_store, Access::shared_load, Access::shared_store},
           3},  // two memories at a time, and the instrumented pass
    Launch{"constant", {Access::constant_load}},
    Launch{"local", {Access::local_load, Access::local_store}},
    Launch{"texture", {Access::texture_load}},
    Launch{"texture copy", {Access::texture_load, Access::global_store}},
};

// Chips whose device memory is the CPU's: CUPTI 13.0 has no count of its bytes there.
const std::set<std::string> without_dram{"GA10B", "GB10B", "GB20B"};

MetricPlan plan_on(const ChipMetrics& chip, std::span<const Counter> wanted) {
    return plan_metrics(wanted, chip.chip(), [&](std::string_view name) { return chip.has(name); });
}

std::size_t passes_of(const CuptiApi& api, const ChipMetrics& chip, CounterSet set,
                      AccessSet accesses) {
    const MetricPlan plan = plan_on(chip, counters_of(set, accesses));
    std::size_t passes = 0;
    if (!plan.hardware.empty()) passes += MetricConfig(api, chip.chip(), plan.hardware).passes();
    if (!plan.instrumented.empty())
        passes += MetricConfig(api, chip.chip(), plan.instrumented).passes();
    return passes;
}

class MetricTable : public RealCupti {
 protected:
    // Calls visit(ChipMetrics) for every chip that the host accepts.
    template <typename Visit>
    void each_chip(Visit visit) {
        std::size_t visited = 0;
        for (const std::string& name : supported_chips(api())) {
            if (is_listed_only(name)) continue;
            SCOPED_TRACE(name);
            visit(ChipMetrics(api(), name));
            ++visited;
        }
        EXPECT_GE(visited, 29u);
    }
};

std::vector<std::string> candidates_of(const CounterMetrics& row) {
    std::vector<std::string> names;
    for (const std::string_view name : row.candidates)
        if (!name.empty()) names.emplace_back(name);
    return names;
}

TEST_F(MetricTable, has_a_valid_metric_for_every_counter_on_every_chip) {
    each_chip([](const ChipMetrics& chip) {
        for (const CounterMetrics& row : metric_table()) {
            const std::vector<std::string> candidates = candidates_of(row);
            std::vector<std::string> refused;
            for (const std::string& candidate : candidates) {
                const auto problem = chip.problem_with(candidate);
                EXPECT_EQ(chip.has(candidate), !problem) << candidate;
                if (problem) refused.push_back(*problem);
            }
            const bool is_dram =
                row.counter == Counter::dram_read_bytes || row.counter == Counter::dram_write_bytes;
            const bool is_missing = !candidates.empty() && refused.size() == candidates.size();
            EXPECT_EQ(is_missing, is_dram && without_dram.contains(chip.chip()))
                << key_of(row.counter) << ": " << ::testing::PrintToString(refused);
            // Only device memory and the data stage go by different names.
            const bool is_data_stage = key_of(row.counter).ends_with("_data_wavefronts");
            EXPECT_TRUE(refused.empty() || is_dram || is_data_stage)
                << ::testing::PrintToString(refused);
        }
    });
}

// What only a GPU would show: NVIDIA's names say the unit, what is counted, the memory and the kind
// of access, and recorded launches of each kind bear that out
// (docs/measurements/h200/local_requests.txt, tests/data/h200). First what a counter's name has,
// then what its metrics' names must have.
TEST(MetricNames, are_of_the_access_and_the_unit_that_their_counter_names) {
    using Meanings = std::vector<std::pair<const char*, const char*>>;
    const Meanings of_access{{"(^|_)load_", "_ld(_|\\.)|_mem_lgd?s?\\.|lsu_wavefronts\\."},
                             {"(^|_)store_", "_st(_|\\.)|_mem_lgd?s?\\.|lsu_wavefronts\\."},
                             {"(^|_)atomic_", "_atom(_|\\.)|_mem_lgd?s?\\.|lsu_wavefronts\\."},
                             {"(^|_)reduce_", "_red(_|\\.)|_mem_lgd?s?\\.|lsu_wavefronts\\."},
                             {"^shared_", "_shared_"},
                             {"^local_", "_local_"},
                             {"^texture_", "_texture"},
                             {"^l2_", "^lts__t_.*_srcunit_tex_"},
                             {"_read_", "_read\\."},
                             {"_write_", "_write\\."}};
    const Meanings of_unit{
        {"^(load|store|atomic|reduce)_(req|sec|lines|tag|unique)", "_global_|_generic_atom"},
        {"^l1_hit", "_global_op_ld_lookup_hit"},
        {"_hit_", "_lookup_hit"},
        {"^dram_", "^dram__bytes_"},
        {"_requests$", "_requests_|_inst_executed_|^idc__requests"},
        {"_sectors$", "__t_sectors_"},
        {"_lines$", "_set_accesses_"},
        {"_unique_bytes$", "_sass_data_bytes_"},
        {"_tag_wavefronts$", "_output_wavefronts_"},
        {"(data|^shared_.*)_wavefronts$", "_data_pipe_lsu_wavefronts"},
        {"_conflicts$", "_data_bank_conflicts_"}};
    const auto expect = [](Counter counter, std::string_view name, const Meanings& meanings) {
        const auto has = [](std::string_view text, const char* pattern) {
            return std::regex_search(std::string(text), std::regex(pattern));
        };
        for (const auto& [of_counter, of_metric] : meanings) {
            if (name.empty() || !has(key_of(counter), of_counter)) continue;
            EXPECT_TRUE(has(name, of_metric)) << key_of(counter) << ": " << name;
        }
    };
    for (const CounterMetrics& row : metric_table()) {
        EXPECT_EQ(&metrics_of(row.counter), &row) << key_of(row.counter);
        for (const std::string_view name : row.candidates) {
            expect(row.counter, name, of_access);
            expect(row.counter, name, of_unit);
        }
        for (const std::string_view name : {row.with_waiting, row.conflicts, row.without_waiting})
            expect(row.counter, name, of_access);
    }
}

TEST_F(MetricTable, makes_basic_one_pass_for_every_op_on_every_gpu_that_is_measured) {
    std::cout << "passes of basic / memory / all:\n";
    each_chip([this](const ChipMetrics& chip) {
        std::string line = fmt::format("  {:6}", chip.chip());
        for (const Launch& launch : launches) {
            const std::size_t basic = passes_of(api(), chip, CounterSet::basic, launch.accesses);
            // Two pipes of L1 take two passes from GH100 on.
            const bool has_both = launch.accesses.has(Access::texture_load) &&
                                  launch.accesses.has(Access::global_store);
            // GV100 is listed, but counters are served from compute capability 7.5 on.
            EXPECT_TRUE(basic == launch.basic_passes || chip.chip() == "GV100" ||
                        (has_both && basic == 2))
                << launch.name << ": " << basic;
            line += fmt::format("  {} {}/{}/{}", launch.name, basic,
                                passes_of(api(), chip, CounterSet::memory, launch.accesses),
                                passes_of(api(), chip, CounterSet::all, launch.accesses));
        }
        std::cout << line << '\n';
    });
}

TEST_F(MetricTable, needs_one_instrumented_pass_at_most) {
    const std::array wanted{Counter::load_unique_bytes, Counter::store_unique_bytes,
                            Counter::atomic_unique_bytes, Counter::reduce_unique_bytes};
    each_chip([&](const ChipMetrics& chip) {
        const MetricPlan plan = plan_on(chip, wanted);
        EXPECT_THAT(plan.hardware, IsEmpty());
        EXPECT_EQ(MetricConfig(api(), chip.chip(), plan.instrumented).passes(), 1u);
    });
}

bool has_everything(std::string_view) { return true; }

TEST(MetricPlan, asks_for_each_metric_once) {
    const std::array wanted{Counter::load_sectors, Counter::load_efficiency,
                            Counter::load_bytes_per_sector, Counter::load_sectors};
    const MetricPlan plan = plan_metrics(wanted, "GH100", has_everything);
    EXPECT_THAT(plan.hardware, ElementsAre("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
    EXPECT_THAT(plan.instrumented, ElementsAre("smsp__sass_data_bytes_mem_global_op_ld.sum"));
    EXPECT_EQ(plan.sources.size(), 2u);
}

TEST(MetricPlan, has_an_answer_for_every_counter) {
    for (const CounterInfo& counter : all_counters()) {
        const MetricPlan plan = plan_metrics({&counter.counter, 1}, "GH100", has_everything);
        const bool is_elsewhere = metrics_of(counter.counter).cost == MetricCost::elsewhere;
        EXPECT_EQ(plan.sources.empty() && plan.unavailable.empty(), is_elsewhere) << counter.key;
        for (const auto& [missing, reason] : plan.unavailable)
            EXPECT_FALSE(reason.reason.empty()) << counter.key;
    }
}

TEST(MetricPlan, guards_the_data_stage_with_the_requests_of_all_other_accesses) {
    const std::array wanted{Counter::store_data_wavefronts};
    const MetricPlan plan = plan_metrics(wanted, "GH100", has_everything);
    ASSERT_EQ(plan.sources.size(), 1u);
    std::vector<std::string> guards;
    for (const std::size_t index : plan.sources[0].must_be_zero)
        guards.push_back(plan.hardware.at(index));
    EXPECT_THAT(guards, Contains("smsp__inst_executed_op_global_ld_pred_on_any.sum"));
    EXPECT_THAT(guards, Contains("smsp__inst_executed_op_shared_ld_pred_on_any.sum"));
    EXPECT_THAT(guards, Not(Contains("smsp__inst_executed_op_global_st_pred_on_any.sum")));
    EXPECT_EQ(guards.size(), 7u);  // eight accesses are counted, one of them is the store
}

// What waits is told by an instrumented pass; a lone warp waits for nobody, and needs none.
TEST(MetricPlan, takes_waiting_off_the_passes_of_shared_memory) {
    const std::array wanted{Counter::shared_load_conflicts, Counter::shared_load_wavefronts};
    const MetricPlan plan = plan_metrics(wanted, "GH100", has_everything);
    ASSERT_EQ(plan.sources.size(), 2u);
    EXPECT_THAT(plan.instrumented,
                ElementsAre("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"));
    for (const MetricPlan::Source& source : plan.sources) {
        EXPECT_FALSE(source.is_instrumented);
        ASSERT_TRUE(source.waiting);
        EXPECT_EQ(plan.hardware.at(source.waiting->with),
                  "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
    }
    EXPECT_EQ(plan.hardware.size(), 2u);
    const MetricPlan alone = plan_metrics(wanted, "GH100", has_everything, true);
    EXPECT_THAT(alone.instrumented, IsEmpty());
    EXPECT_FALSE(alone.sources.at(0).waiting);
}

TEST(MetricPlan, reads_the_parts_of_a_conflict_degree) {
    const std::array wanted{Counter::shared_store_conflict_degree,
                            Counter::shared_atomic_conflict_degree};
    const MetricPlan plan = plan_metrics(wanted, "GH100", has_everything);
    EXPECT_THAT(plan.hardware, Contains("smsp__inst_executed_op_shared_st_pred_on_any.sum"));
    EXPECT_THAT(plan.hardware, Contains("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"));
    EXPECT_THAT(plan.hardware, Contains("smsp__inst_executed_op_shared_atom.sum"));
    EXPECT_EQ(plan.sources.size(), 4u);
}

TEST(CounterSets, hold_what_concerns_the_launch) {
    EXPECT_THAT(counters_of(CounterSet::basic, {Access::global_load}),
                ElementsAre(Counter::load_requests, Counter::load_sectors,
                            Counter::load_sectors_per_request, Counter::l1_hit_sectors,
                            Counter::l2_read_requests, Counter::l2_read_sectors,
                            Counter::dram_read_bytes, Counter::dram_write_bytes));
    EXPECT_THAT(counters_of(CounterSet::basic, {Access::constant_load}),
                ElementsAre(Counter::constant_requests));
    const auto memory = counters_of(CounterSet::memory, {Access::global_store});
    EXPECT_THAT(memory, Contains(Counter::store_lines));
    EXPECT_THAT(memory, Contains(Counter::store_efficiency));
    EXPECT_THAT(memory, Not(Contains(Counter::load_lines)));
    EXPECT_THAT(memory, Not(Contains(Counter::store_data_wavefronts)));
    const auto all = counters_of(CounterSet::all, {Access::global_store});
    EXPECT_THAT(all, Contains(Counter::store_data_wavefronts));
    EXPECT_THAT(all, Contains(Counter::store_ideal_sectors));  // with the reason why not
    EXPECT_THAT(all, Not(Contains(Counter::duration_seconds)));
}

TEST(CounterSets, grow_from_basic_to_all) {
    for (const Launch& launch : launches) {
        const auto basic = counters_of(CounterSet::basic, launch.accesses);
        const auto memory = counters_of(CounterSet::memory, launch.accesses);
        const auto all = counters_of(CounterSet::all, launch.accesses);
        EXPECT_TRUE(std::ranges::includes(memory, basic)) << launch.name;
        EXPECT_TRUE(std::ranges::includes(all, memory)) << launch.name;
        EXPECT_FALSE(basic.empty()) << launch.name;
    }
}

TEST(CounterSets, see_what_a_program_does) {
    Program program;
    program.instructions.push_back(
        {.kind = AccessKind::load, .space = Space::global, .formula = {}});
    program.instructions.push_back(
        {.kind = AccessKind::store, .space = Space::shared, .formula = {}});
    program.instructions.push_back(
        {.kind = AccessKind::reduce, .space = Space::global, .formula = {}});
    EXPECT_EQ(accesses_of(program),
              (AccessSet{Access::global_load, Access::shared_store, Access::global_reduce}));
    program.instructions = {{.kind = AccessKind::load, .formula = {}, .path = LoadPath::tex}};
    EXPECT_EQ(accesses_of(program), AccessSet{Access::texture_load});
    program.instructions = {{.kind = AccessKind::load, .formula = {}, .path = LoadPath::ldg}};
    EXPECT_EQ(accesses_of(program), AccessSet{Access::global_load});
}

TEST(CounterSets, are_found_by_name) {
    EXPECT_EQ(find_counter_set("memory"), CounterSet::memory);
    EXPECT_EQ(find_counter_set("Memory"), std::nullopt);
}

}  // namespace
}  // namespace coalprof
