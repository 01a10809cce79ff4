#include "core/program/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/result/counter.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

constexpr std::string_view sectors = "smsp__sass_sectors_mem_global";
constexpr std::string_view ideal_sectors = "smsp__sass_sectors_mem_global_ideal";
constexpr std::string_view passes = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
constexpr std::string_view ideal_passes = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal";

// The operation of an instruction, known from the counts of its executions.
struct Operation {
    std::string_view metric;
    std::string_view name;
    AccessKind kind;
    Space space;
};
constexpr std::array operations{
    Operation{"smsp__sass_inst_executed_op_global_ld", "global load", AccessKind::load,
              Space::global},
    Operation{"smsp__sass_inst_executed_op_global_st", "global store", AccessKind::store,
              Space::global},
    Operation{"smsp__sass_inst_executed_op_global_atom", "global atomic", AccessKind::atomic,
              Space::global},
    Operation{"smsp__sass_inst_executed_op_global_red", "global reduction", AccessKind::reduce,
              Space::global},
    // cp.async: hardware counts its sectors as those of loads.
    Operation{"smsp__sass_inst_executed_op_ldgsts", "asynchronous copy", AccessKind::load,
              Space::global},
    Operation{"smsp__sass_inst_executed_op_shared_ld", "shared load", AccessKind::load,
              Space::shared},
    Operation{"smsp__sass_inst_executed_op_shared_st", "shared store", AccessKind::store,
              Space::shared},
    Operation{"smsp__sass_inst_executed_op_shared_atom", "shared atomic", AccessKind::atomic,
              Space::shared},
};

struct Width {
    std::string_view metric;
    std::uint32_t bytes;
};
constexpr std::array widths{Width{"smsp__sass_inst_executed_op_memory_8b", 1},
                            Width{"smsp__sass_inst_executed_op_memory_16b", 2},
                            Width{"smsp__sass_inst_executed_op_memory_32b", 4},
                            Width{"smsp__sass_inst_executed_op_memory_64b", 8},
                            Width{"smsp__sass_inst_executed_op_memory_128b", 16}};

constexpr std::array bulk_copies{std::string_view("smsp__sass_inst_executed_op_tma_ld"),
                                 std::string_view("smsp__sass_inst_executed_op_tma_st"),
                                 std::string_view("smsp__sass_inst_executed_op_tma_red")};

using Counts = std::map<std::string, std::uint64_t>;

std::optional<std::uint64_t> count_of(const Counts& counts, std::string_view metric) {
    const auto found = counts.find(std::string(metric));
    if (found == counts.end()) return std::nullopt;
    return found->second;
}

// 0: CUPTI gave none.
std::uint32_t width_of(const Counts& counts) {
    const auto found = std::ranges::find_if(
        widths, [&](const Width& width) { return count_of(counts, width.metric).value_or(0) > 0; });
    return found == widths.end() ? 0 : found->bytes;
}

// All of several instructions on one line must have been counted.
void add_to(Readings& readings, Counter counter, std::optional<std::uint64_t> count) {
    Reading& reading = readings[counter];
    if (!count)
        reading = Unavailable{"CUPTI did not count it of this instruction"};
    else if (!is_present(reading))
        reading = *count;
    else if (auto* before = std::get_if<std::uint64_t>(&reading))
        *before += *count;
}

void add_global(LineSummary& line, std::uint64_t executed, const Counts& counts) {
    const auto asked = count_of(counts, sectors);
    auto ideal = count_of(counts, ideal_sectors);
    // A lane that asks for the same place as another one needs no further sector.
    if (ideal && asked) ideal = std::min(*ideal, *asked);
    line.totals += {.executed = executed,
                    .sectors = asked.value_or(0),
                    .ideal_sectors = ideal.value_or(asked.value_or(0)),
                    .needed_sectors = ideal.value_or(asked.value_or(0))};
    const auto counter = [&](AccessField field) { return access_counter(line.site.kind, field); };
    Readings& readings = *line.counted;
    add_to(readings, counter(AccessField::requests), executed);
    add_to(readings, counter(AccessField::sectors), asked);
    add_to(readings, counter(AccessField::ideal_sectors), ideal);
    derive_ratios(readings);
}

void add_shared(LineSummary& line, std::uint64_t executed, const Counts& counts) {
    line.totals += {.executed = executed};
    const SharedCounters of = shared_counters(line.site.kind);
    const auto took = count_of(counts, passes);
    const auto ideal = count_of(counts, ideal_passes);
    std::optional<std::uint64_t> conflicts;
    if (took && ideal) conflicts = *took - std::min(*ideal, *took);
    Readings& readings = *line.counted;
    add_to(readings, of.requests, executed);
    add_to(readings, of.wavefronts, took);
    if (of.conflicts) add_to(readings, *of.conflicts, conflicts);
    derive_ratios(readings);
}

std::string text_of(const Operation& operation, std::uint32_t width_bytes) {
    if (width_bytes == 0) return std::string(operation.name);
    return fmt::format("{} of {} byte{}", operation.name, width_bytes, width_bytes == 1 ? "" : "s");
}

using Key = std::tuple<std::string, SourceLine, std::uint64_t, std::string>;

// Beginnings of kernel names in NVIDIA's libraries and in frameworks, which users can seldom change
// (PyTorch 2.11, CUDA 13.0).
constexpr std::array library_beginnings{std::string_view("ampere_"),
                                        std::string_view("at::"),
                                        std::string_view("at_cuda_detail::"),
                                        std::string_view("c10::"),
                                        std::string_view("cask_"),
                                        std::string_view("cub::"),
                                        std::string_view("cublas"),
                                        std::string_view("cudnn"),
                                        std::string_view("cufft"),
                                        std::string_view("cunn_"),
                                        std::string_view("cusparse"),
                                        std::string_view("cutlass"),
                                        std::string_view("flash"),
                                        std::string_view("fmha_"),
                                        std::string_view("gemmSN_"),
                                        std::string_view("gemv"),
                                        std::string_view("hopper_"),
                                        std::string_view("implicit_convolve"),
                                        std::string_view("nccl"),
                                        std::string_view("nvjet_"),
                                        std::string_view("pytorch_flash::"),
                                        std::string_view("sm70_"),
                                        std::string_view("sm75_"),
                                        std::string_view("sm80_"),
                                        std::string_view("sm86_"),
                                        std::string_view("sm90_"),
                                        std::string_view("sm100_"),
                                        std::string_view("softmax_warp_"),
                                        std::string_view("splitKreduce_"),
                                        std::string_view("thrust::"),
                                        std::string_view("turing_"),
                                        std::string_view("volta_"),
                                        std::string_view("xmma_")};

}  // namespace

bool is_of_library(const std::string& symbol) {
    std::string name = demangled(symbol);
    for (const std::string_view before : {"void ", "(anonymous namespace)::"})
        if (name.starts_with(before)) name.erase(0, before.size());
    return std::ranges::any_of(library_beginnings,
                               [&](std::string_view begin) { return name.starts_with(begin); });
}

std::span<const std::string_view> machine_code_metrics() {
    // Never destroyed: a counted program's exit handler uses them.
    static const auto& all = *new std::vector<std::string_view>([] {
        std::vector<std::string_view> metrics{sectors, ideal_sectors};
        for (const Operation& operation : operations)
            if (operation.space == Space::global) metrics.push_back(operation.metric);
        for (const Width& width : widths) metrics.push_back(width.metric);
        metrics.insert(metrics.end(), bulk_copies.begin(), bulk_copies.end());
        for (const Operation& operation : operations)
            if (operation.space == Space::shared) metrics.push_back(operation.metric);
        metrics.insert(metrics.end(), {passes, ideal_passes});
        return metrics;
    }());
    return all;
}

std::vector<LineSummary> lines_of_machine_code(const std::vector<Trace>& traces) {
    std::map<Key, LineSummary> lines;
    for (const Trace& trace : traces)
        for (const TracedInstruction& told : trace.instructions)
            for (const Operation& operation : operations) {
                const auto executed = count_of(told.counts, operation.metric);
                if (executed.value_or(0) == 0) continue;
                const std::uint64_t offset = told.source.file.empty() ? told.offset : 0;
                const std::uint32_t width = width_of(told.counts);
                const std::string text = text_of(operation, width);
                LineSummary& line = lines[{told.function, told.source, offset, text}];
                line.site.function = told.function;
                line.site.source = told.source;
                line.site.instruction = text;
                line.site.kind = operation.kind;
                line.site.space = operation.space;
                line.site.width_bytes = width;
                line.offset = offset;
                if (!line.counted) line.counted.emplace();
                operation.space == Space::shared ? add_shared(line, *executed, told.counts)
                                                 : add_global(line, *executed, told.counts);
            }
    std::vector<LineSummary> all;
    for (auto& [key, line] : lines) all.push_back(std::move(line));
    return all;
}

std::map<std::string, std::uint64_t> bulk_copies_of(const std::vector<Trace>& traces) {
    std::map<std::string, std::uint64_t> copies;
    for (const Trace& trace : traces)
        for (const TracedInstruction& told : trace.instructions)
            for (const std::string_view metric : bulk_copies)
                if (const auto executed = count_of(told.counts, metric).value_or(0); executed > 0)
                    copies[told.function] += executed;
    return copies;
}

std::vector<KernelOfMachineCode> kernels_of_machine_code(const std::vector<KernelSummary>& kernels,
                                                         const std::vector<Trace>& first_run,
                                                         const std::vector<Trace>& of_ptx,
                                                         std::size_t most) {
    std::set<std::string> others;
    for (const Trace& trace : first_run)
        others.insert(trace.unfinished.begin(), trace.unfinished.end());
    for (const Trace& trace : of_ptx) others.insert(trace.rewritten.begin(), trace.rewritten.end());
    struct Sum {
        KernelOfMachineCode kernel;
        double seconds = 0;
    };
    std::vector<Sum> sums;
    for (const KernelSummary& summary : kernels) {
        const std::string& name = summary.kernel.name;
        if (summary.counted == 0 || is_graph(summary.kernel) || others.contains(name)) continue;
        auto sum = std::ranges::find(sums, name, [](const Sum& one) { return one.kernel.name; });
        if (sum == sums.end()) sum = sums.insert(sums.end(), {.kernel = {.name = name}});
        sum->kernel.launches += summary.counted;
        sum->seconds += summary.total_seconds();
    }
    // No stable_sort, about which clang warns with libstdc++ 12: names decide where times are
    // equal.
    std::ranges::sort(sums, {}, [](const Sum& one) {
        return std::tuple(is_of_library(one.kernel.name), -one.seconds, one.kernel.name);
    });
    std::vector<KernelOfMachineCode> chosen;
    for (Sum& sum : sums)
        if (chosen.size() < most) chosen.push_back(std::move(sum.kernel));
    return chosen;
}

}  // namespace coalprof
