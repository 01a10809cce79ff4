#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/lines/run_kernels.h"
#include "core/lines/run_warnings.h"
#include "core/program/machine_code.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

Warning no_lines(std::string text) { return of_run("W-NO-LINES", std::move(text)); }

// Seconds of the whole run by the names of kernels that have no line and may need some, including
// graphs, whose kernels are not known.
struct TimeWithoutLines {
    double all = 0;  // includes kernels that have lines
    double in_graphs = 0;
    std::map<std::string, double> of_kernels;
};
TimeWithoutLines time_without_lines(const std::vector<KernelSummary>& kernels,
                                    const std::vector<LineSummary>& lines) {
    TimeWithoutLines time;
    for (const KernelSummary& summary : kernels) {
        const std::string& name = summary.kernel.name;
        const double seconds = summary.total_seconds();
        time.all += seconds;
        if (is_graph(summary.kernel) && !lines.empty())
            time.in_graphs += seconds;
        else if (!is_fine_by_bytes(summary) &&
                 std::ranges::none_of(
                     lines, [&](const LineSummary& line) { return line.site.function == name; }))
            time.of_kernels[kernel_name(name)] += seconds;
    }
    return time;
}

bool says_what_to_do(std::string_view reason) { return reason.find(": ") != reason.npos; }

// The reason why some code did not count itself: the one that says how to build the code, if it is
// not a library's.
std::string reason_of(const LineTraces& traces, bool is_of_libraries) {
    const std::set<std::string> reasons =
        names_in(traces.of_ptx.empty() ? traces.first : traces.of_ptx, &Trace::lacks_ptx);
    const auto chosen = std::ranges::find_if(reasons, [&](const std::string& reason) {
        return says_what_to_do(reason) != is_of_libraries;
    });
    return chosen != reasons.end()              ? *chosen
           : reasons.empty() || is_of_libraries ? ""
                                                : *reasons.begin();
}

// Kernels whose code could not count itself, their share of the time, and how to get their lines.
std::vector<Warning> kernels_without_lines(const TimeWithoutLines& time,
                                           const std::vector<KernelSummary>& kernels,
                                           const LineTraces& traces) {
    if (time.of_kernels.empty()) return {};
    constexpr std::size_t most_named = 2;
    NameList names(most_named);
    double seconds = 0;
    for (const auto& [name, of_kernel] : time.of_kernels) {
        names.add(name);
        seconds += of_kernel;
    }
    std::string text = time.of_kernels.size() <= most_named
                           ? "no lines of " + names.text()
                           : fmt::format("{} kernels have no lines", time.of_kernels.size());
    if (time.all > 0) text += fmt::format(" ({:.0f} % of the time)", 100 * seconds / time.all);
    std::vector<KernelSummary> wasteful = kernels;
    std::erase_if(wasteful, [&](const KernelSummary& one) {
        return is_fine_by_bytes(one) || !time.of_kernels.contains(kernel_name(one.kernel.name));
    });
    const std::string reason =
        reason_of(traces, std::ranges::all_of(wasteful, [](const KernelSummary& one) {
                      return is_of_library(one.kernel.name);
                  }));
    if (!reason.empty()) text += ": " + reason;
    const auto next = kernels_of_machine_code(wasteful, traces.first, traces.of_ptx, 1);
    if (!says_what_to_do(reason) && traces.of_machine_code.empty() && !next.empty())
        text += fmt::format("; --machine-code 1 counts {}", kernel_name(next.front().name));
    return {no_lines(text)};
}

std::vector<Warning> time_in_graphs(const TimeWithoutLines& time) {
    if (time.in_graphs == 0) return {};
    return {no_lines(
        fmt::format("{:.0f} % of the GPU's time passed in CUDA graphs, and is no kernel's here; "
                    "lines may hold what their kernels executed there",
                    100 * time.in_graphs / time.all))};
}

// Requested counts that did not come, where no reason is known.
std::vector<Warning> silence_of(const MachineCodeRun& run) {
    if (std::ranges::any_of(run.traces, [](const Trace& one) { return !one.problems.empty(); }))
        return {};
    const bool was_launched = std::ranges::any_of(run.traces, [&](const Trace& trace) {
        return trace.launches && std::ranges::any_of(*trace.launches, [&](const auto& entry) {
                   return entry.first.name == run.kernel;
               });
    });
    const bool has_instructions = std::ranges::any_of(run.traces, [&](const Trace& trace) {
        return std::ranges::count(trace.instructions, run.kernel, &TracedInstruction::function) > 0;
    });
    const std::string name = short_kernel_name(run.kernel);
    if (!was_launched)
        return {no_lines(fmt::format(
            "{} was not launched in the run that was to count its instructions", name))};
    if (!has_instructions)
        return {no_lines(fmt::format("CUPTI counted no memory instructions of {}", name))};
    return {};
}

std::vector<Warning> bulk_copies_in(const std::vector<Trace>& traces) {
    std::vector<Warning> warnings;
    for (const auto& [kernel, copies] : bulk_copies_of(traces))
        warnings.push_back(
            no_lines(fmt::format("no lines of the bulk copies (TMA) of {}: {} were executed, and "
                                 "CUPTI counts no sectors of them",
                                 short_kernel_name(kernel), copies)));
    return warnings;
}

// `why`: reason why lines may differ.
std::vector<Warning> lines_that_differ(const std::vector<KernelSummary>& kernels,
                                       const std::vector<Trace>& traces, std::string_view why) {
    std::vector<Warning> warnings;
    for (const LinesDiffer& kernel : kernels_whose_lines_differ(kernels, traces))
        warnings.push_back(
            of_run("W-LINES-DIFFER",
                   fmt::format("the lines of {} add up to {:.0f} sectors, the launches that the "
                               "hardware counted make {:.0f} of all: {}",
                               short_kernel_name(kernel.function), kernel.sectors_of_lines,
                               kernel.sectors_of_hardware, why)));
    return warnings;
}

// Problems of machine-code runs, reported with their kernels.
std::vector<Warning> problems_of_machine_code(const std::vector<MachineCodeRun>& runs) {
    std::map<std::string, std::vector<std::string>> kernels_of;
    for (const MachineCodeRun& run : runs)
        for (const Warning& problem : problems_of(run.traces, {}))
            kernels_of[problem.text].push_back(short_kernel_name(run.kernel));
    std::vector<Warning> warnings;
    for (const auto& [problem, kernels] : kernels_of)
        warnings.push_back(
            no_lines(kernels.size() > 1 && kernels.size() == runs.size()
                         ? problem
                         : fmt::format("{}: {}", fmt::join(kernels, ", "), problem)));
    return warnings;
}

// Counters could not be read, or had no value; code still counts itself.
std::vector<Warning> lines_without_times(const std::vector<KernelSummary>& kernels,
                                         const std::vector<LineSummary>& lines) {
    if (lines.empty() || std::ranges::any_of(kernels, &KernelSummary::has_time)) return {};
    return {of_run("W-NO-COUNTERS",
                   "lines have sectors, shapes and findings all the same; no times, and not what a "
                   "fix saves: the line that wastes most sectors comes first")};
}

// PTX only: lines cannot be added to machine code.
bool lacks_line_information(const std::vector<LineSummary>& lines) {
    const auto is_ptx = [](const LineSummary& line) { return !line.is_machine_code(); };
    return std::ranges::any_of(lines, is_ptx) &&
           std::ranges::none_of(lines, [&](const LineSummary& line) {
               return is_ptx(line) && !line.place().file.empty();
           });
}

}  // namespace

std::vector<Warning> warnings_of_lines(const std::vector<KernelSummary>& kernels,
                                       const std::vector<LineSummary>& lines,
                                       const LineTraces& traces) {
    const TimeWithoutLines time = time_without_lines(kernels, lines);
    std::vector<Warning> all = kernels_without_lines(time, kernels, traces);
    append(all, time_in_graphs(time));
    append(all, lines_without_times(kernels, lines));
    for (const MachineCodeRun& run : traces.of_machine_code) {
        append(all, silence_of(run));
        append(all, bulk_copies_in(run.traces));
        append(all, lines_that_differ(kernels, run.traces,
                                      "its launches ask for other sectors from run to run"));
    }
    append(all, lines_that_differ(kernels, traces.of_ptx,
                                  "where lanes part, the program's own code is arranged in another "
                                  "way, or later launches ask for other sectors"));
    if (lacks_line_information(lines))
        all.push_back(of_run("W-NO-LINE-INFO",
                             "the program was built without line information: compile it with nvcc "
                             "-lineinfo to see source lines"));
    append(all, problems_of(traces.of_ptx, "W-NO-LINES"));
    append(all, problems_of_machine_code(traces.of_machine_code));
    return all;
}

}  // namespace coalprof
