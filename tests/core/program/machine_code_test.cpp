// Counts of single instructions, as the library in the program writes them, and what they come to.
#include "core/program/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

using Counts = std::map<std::string, std::uint64_t>;

// By the ends of the metrics' names.
TracedInstruction instruction(std::uint64_t offset, const Counts& counts,
                              const SourceLine& source = {}) {
    TracedInstruction told{
        .function = "_Z4copyPf", .offset = offset, .source = source, .counts = {}};
    for (const auto& [end, count] : counts) {
        const auto metric =
            std::ranges::find_if(machine_code_metrics(),
                                 [&](std::string_view name) { return name.ends_with("_" + end); });
        EXPECT_NE(metric, machine_code_metrics().end()) << end;
        told.counts[std::string(*metric)] = count;
    }
    return told;
}

Trace of(std::vector<TracedInstruction> instructions) {
    Trace trace;
    trace.instructions = std::move(instructions);
    return trace;
}

Reading number(std::uint64_t count) { return count; }

// 10 warps of 32 lanes, each 4 bytes in a sector of its own: 320 sectors, where 4 a warp would do.
const TracedInstruction load = instruction(0x1a0, {{"op_global_ld", 10},
                                                   {"op_global_st", 0},
                                                   {"op_memory_32b", 10},
                                                   {"sectors_mem_global", 320},
                                                   {"mem_global_ideal", 40}});

TEST(MachineCode, is_asked_for_by_metrics_of_which_none_stands_twice) {
    const auto metrics = machine_code_metrics();
    const std::set<std::string_view> different(metrics.begin(), metrics.end());
    EXPECT_EQ(different.size(), metrics.size());
    EXPECT_LE(sure_machine_code_metrics, metrics.size());
}

TEST(MachineCode, has_a_line_for_each_instruction_where_its_source_is_not_known) {
    TracedInstruction later = load;
    later.offset = 0x1b0;
    const auto lines = lines_of_machine_code({of({load, later})});
    ASSERT_THAT(lines, SizeIs(2));
    const LineSummary& line = lines[0];
    EXPECT_TRUE(line.is_machine_code());
    EXPECT_EQ(line.offset, 0x1a0u);
    EXPECT_EQ(line.site.kind, AccessKind::load);
    EXPECT_EQ(line.site.width_bytes, 4u);
    EXPECT_EQ(line.wasted_sectors(), 280u);
    const Readings readings = readings_of(line);
    EXPECT_EQ(readings[Counter::load_requests], number(10));
    EXPECT_EQ(readings[Counter::load_sectors], number(320));
    EXPECT_EQ(readings[Counter::load_ideal_sectors], number(40));
    EXPECT_EQ(readings[Counter::load_sectors_per_request], Reading{32.0});
    // What was not counted is not there.
    EXPECT_FALSE(is_present(readings[Counter::load_unique_bytes]));
    EXPECT_FALSE(is_present(readings[Counter::load_lines]));
    EXPECT_FALSE(is_present(readings[Counter::store_requests]));
}

// Unrolled, and in two processes: 3 times the 10 warps.
TEST(MachineCode, of_one_source_line_is_added_up) {
    TracedInstruction first = load;
    first.source = {"/src/k.cu", 7};
    TracedInstruction second = first;
    second.offset = 0x1b0;
    const auto lines = lines_of_machine_code({of({first, second}), of({first})});
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_EQ(readings_of(lines[0])[Counter::load_requests], number(30));
    EXPECT_EQ(readings_of(lines[0])[Counter::load_sectors], number(960));
    EXPECT_EQ(lines[0].wasted_sectors(), 840u);
    EXPECT_EQ(lines[0].place(), (SourceLine{"/src/k.cu", 7}));
}

TEST(MachineCode, tells_each_kind_of_access_apart) {
    const struct {
        std::string metric;
        AccessKind kind;
        Space space;
    } cases[] = {{"op_global_st", AccessKind::store, Space::global},
                 {"op_global_atom", AccessKind::atomic, Space::global},
                 {"op_global_red", AccessKind::reduce, Space::global},
                 {"op_ldgsts", AccessKind::load, Space::global},
                 {"op_shared_ld", AccessKind::load, Space::shared},
                 {"op_shared_st", AccessKind::store, Space::shared},
                 {"op_shared_atom", AccessKind::atomic, Space::shared}};
    for (const auto& [metric, kind, space] : cases) {
        SCOPED_TRACE(metric);
        const auto lines = lines_of_machine_code({of({instruction(0, {{metric, 3}})})});
        ASSERT_THAT(lines, SizeIs(1));
        EXPECT_EQ(lines[0].site.kind, kind);
        EXPECT_EQ(lines[0].site.space, space);
        EXPECT_EQ(lines[0].totals.executed, 3u);
    }
}

TEST(MachineCode, has_the_width_that_was_counted_or_none) {
    const struct {
        std::string metric;
        std::uint32_t bytes;
    } cases[] = {{"memory_8b", 1}, {"memory_16b", 2}, {"memory_64b", 8}, {"memory_128b", 16}};
    for (const auto& [metric, bytes] : cases)
        EXPECT_EQ(lines_of_machine_code({of({instruction(0, {{"op_global_ld", 1}, {metric, 1}})})})
                      .at(0)
                      .site.width_bytes,
                  bytes);
    EXPECT_EQ(
        lines_of_machine_code({of({instruction(0, {{"op_global_ld", 1}})})}).at(0).site.width_bytes,
        0u);
}

// No sectors of an instruction are not 0 sectors.
TEST(MachineCode, has_a_reason_where_sectors_were_not_counted) {
    const auto lines = lines_of_machine_code({of({instruction(0, {{"op_global_ld", 5}})})});
    const Readings readings = readings_of(lines.at(0));
    EXPECT_EQ(readings[Counter::load_requests], number(5));
    EXPECT_TRUE(std::holds_alternative<Unavailable>(readings[Counter::load_sectors]));
    EXPECT_TRUE(std::holds_alternative<Unavailable>(readings[Counter::load_ideal_sectors]));
    EXPECT_EQ(lines[0].wasted_sectors(), 0u);
}

// Lanes of one address need one sector, side by side they would need four.
TEST(MachineCode, wastes_nothing_where_it_needs_fewer_sectors_than_ideal) {
    const auto lines = lines_of_machine_code({of({instruction(
        0, {{"op_global_ld", 1}, {"sectors_mem_global", 1}, {"mem_global_ideal", 4}})})});
    EXPECT_EQ(readings_of(lines.at(0))[Counter::load_ideal_sectors], number(1));
    EXPECT_EQ(lines[0].wasted_sectors(), 0u);
}

// 40 passes where 10 would do: 4 a request, 30 of them conflicts.
TEST(MachineCode, of_shared_memory_has_passes) {
    const auto lines = lines_of_machine_code({of({instruction(
        0, {{"op_shared_ld", 10}, {"wavefronts_mem_shared", 40}, {"mem_shared_ideal", 10}})})});
    const Readings readings = readings_of(lines.at(0));
    EXPECT_EQ(readings[Counter::shared_load_requests], number(10));
    EXPECT_EQ(readings[Counter::shared_load_wavefronts], number(40));
    EXPECT_EQ(readings[Counter::shared_load_conflicts], number(30));
    EXPECT_EQ(readings[Counter::shared_load_conflict_degree], Reading{4.0});
}

// Ideal passes of none that were counted are no conflicts that are 0.
TEST(MachineCode, has_no_conflicts_where_passes_were_not_counted) {
    const auto lines = lines_of_machine_code(
        {of({instruction(0, {{"op_shared_ld", 10}, {"mem_shared_ideal", 10}})})});
    const Readings readings = readings_of(lines.at(0));
    EXPECT_TRUE(std::holds_alternative<Unavailable>(readings[Counter::shared_load_wavefronts]));
    EXPECT_TRUE(std::holds_alternative<Unavailable>(readings[Counter::shared_load_conflicts]));
}

TEST(MachineCode, has_no_lines_of_bulk_copies_but_their_number) {
    const Trace trace = of({instruction(0x10, {{"op_tma_ld", 5}}),
                            instruction(0x20, {{"op_tma_st", 2}, {"op_tma_red", 0}}), load});
    EXPECT_THAT(lines_of_machine_code({trace}), SizeIs(1));
    EXPECT_THAT(bulk_copies_of({trace, trace}), ElementsAre(Pair("_Z4copyPf", 14u)));
    EXPECT_THAT(bulk_copies_of({of({load})}), IsEmpty());
}

TEST(MachineCode, is_read_as_it_was_written) {
    const std::string path = ::testing::TempDir() + "instructions_" + std::to_string(::getpid());
    TracedInstruction told = load;
    told.source = {"/src/k.cu", 7};
    TraceWriter(path, {.id = 1, .program = "app"}).instruction(told);
    std::ofstream(path, std::ios::app) << R"({"instruction_at":-1,"function":"k"})"
                                       << "\n";
    const Trace trace = read_trace(path);
    std::filesystem::remove(path);
    ASSERT_THAT(trace.instructions, SizeIs(1));
    EXPECT_EQ(trace.instructions[0].function, told.function);
    EXPECT_EQ(trace.instructions[0].offset, told.offset);
    EXPECT_EQ(trace.instructions[0].source, told.source);
    EXPECT_EQ(trace.instructions[0].counts, told.counts);
    EXPECT_THAT(trace.problems, SizeIs(1));
}

KernelSummary kernel(const std::string& name, double seconds, std::uint32_t blocks = 1) {
    KernelSummary summary;
    summary.kernel = {.name = name, .grid = {blocks, 1, 1}, .block = {32, 1, 1}};
    summary.counted = 3;
    summary.launches = 10;
    summary.measured[Counter::duration_seconds] = seconds;
    return summary;
}

std::vector<std::string> chosen(const std::vector<KernelSummary>& kernels,
                                const std::vector<Trace>& first_run, std::size_t most = 9,
                                const std::vector<Trace>& of_ptx = {}) {
    std::vector<std::string> names;
    for (const KernelOfMachineCode& one : kernels_of_machine_code(kernels, first_run, of_ptx, most))
        names.push_back(one.name);
    return names;
}

// Two shapes of "b" take 3 s together, 6 launches of them were counted.
TEST(MachineCode, is_counted_of_those_kernels_first_that_take_most_time) {
    const std::vector<KernelSummary> kernels{kernel("a", 0.2), kernel("b", 0.15),
                                             kernel("b", 0.15, 2), kernel("c", 0.1)};
    EXPECT_THAT(chosen(kernels, {}), ElementsAre("b", "a", "c"));
    EXPECT_THAT(chosen(kernels, {}, 1), ElementsAre("b"));
    EXPECT_THAT(chosen(kernels, {}, 0), IsEmpty());
    EXPECT_EQ(kernels_of_machine_code(kernels, {}, {}, 1).at(0).launches, 6u);
}

// Who profiles a program can mend his own; libraries' kernels take more time in most of them.
TEST(MachineCode, is_counted_of_the_programs_own_kernels_before_those_of_libraries) {
    const std::vector<KernelSummary> kernels{
        kernel("nvjet_sm90_hsh_128x64", 9), kernel("_ZN2at6native4copyEPf", 8),
        kernel("_ZN12_GLOBAL__N_120softmax_warp_forwardIfEEvPT_", 7),
        kernel("_Z10my_softmaxPf", 1)};
    EXPECT_THAT(chosen(kernels, {}, 2), ElementsAre("_Z10my_softmaxPf", "nvjet_sm90_hsh_128x64"));
}

// One that could be rewritten and was not is machine code.
TEST(MachineCode, is_not_counted_of_kernels_that_count_themselves_or_never_end) {
    Trace first_run;
    first_run.rewritable = {"of PTX", "k"};
    first_run.unfinished = {"waits"};
    Trace of_ptx;
    of_ptx.rewritten = {"of PTX"};
    KernelSummary not_counted = kernel("not counted", 1);
    not_counted.counted = 0;
    EXPECT_THAT(chosen({kernel("of PTX", 1), kernel("waits", 1), kernel("(CUDA graph)", 1),
                        not_counted, kernel("k", 1)},
                       {first_run}, 9, {of_ptx}),
                ElementsAre("k"));
}

// 320 sectors of its one load against as many, or twice as many, that the hardware counted.
TEST(MachineCode, is_held_against_the_hardware) {
    KernelSummary counted = kernel("_Z4copyPf", 1);
    counted.measured[Counter::load_sectors] = std::uint64_t{320};
    Trace trace = of({load});
    trace.launches = {{counted.kernel, 1}};
    EXPECT_THAT(kernels_whose_lines_differ({counted}, {trace}), IsEmpty());
    trace.launches = {{counted.kernel, 2}};
    EXPECT_THAT(kernels_whose_lines_differ({counted}, {trace}), SizeIs(1));
}

}  // namespace
}  // namespace coalprof
