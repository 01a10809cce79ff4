#include "cli/run_lines.h"

#ifdef COALPROF_HAS_CUDA

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "cli/run_warnings.h"
#include "core/access/warps_file.h"
#include "core/explain/line_findings.h"
#include "core/program/machine_code.h"
#include "core/program/traced_lines.h"
#include "core/run/device_machine.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"
#include "core/write/source_text.h"

namespace coalprof {
namespace {

LineCosts costs_of(const std::vector<KernelSummary>& kernels,
                   const std::optional<DeviceFacts>& facts) {
    LineCosts costs;
    for (const KernelSummary& summary : kernels)
        if (summary.has_time())
            costs.seconds_of_kernel[summary.kernel.name] += summary.total_seconds();
    // A multiprocessor's banks give one pass a clock.
    if (facts)
        costs.passes_per_second =
            static_cast<double>(facts->multiprocessors) * static_cast<double>(facts->clock_hz);
    return costs;
}

// "faults.cu:19"; without line information "+0x1a0" of machine code, and nothing of PTX.
std::string place_text(const LineReport& report) {
    const SourceLine& place = report.line.place();
    if (place.file.empty())
        return report.line.is_machine_code() ? fmt::format("+{:#x}", report.line.offset)
                                             : std::string();
    return fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(), place.line);
}

// By which road it came; told where some is machine code.
constexpr std::string_view code_parameter = "code";
std::string code_of(const LineReport& report) {
    return report.line.is_machine_code() ? "machine code" : "PTX";
}

Point point_of(const LineReport& report, std::map<std::string, int>& names) {
    const PtxSite& site = report.line.site;
    const std::string place = place_text(report);
    const std::string kernel = kernel_name(site.function);
    const bool has_line = !report.line.place().file.empty();
    Point point;
    point.name = fmt::format("{} {}", has_line ? place : kernel + place, site.instruction);
    if (site.space == Space::shared && site.instruction.find("shared") == std::string::npos)
        point.name += " (shared)";  // of an instruction that can reach both
    if (const int before = names[point.name]++; before > 0)
        point.name += fmt::format(" #{}", before + 1);
    point.parameters = {{"line", place.empty() ? Value{} : Value(place)}, {"kernel", kernel}};
    if (site.width_bytes != 0) point.parameters.emplace_back("width_bytes", site.width_bytes);
    if (has_line)
        point.parameters.emplace_back(std::string(source_file_parameter), report.line.place().file);
    if (site.space == Space::global || report.line.is_machine_code())
        point.measured = report.measured;
    point.predicted = report.predicted;
    return point;
}

Warning no_lines(std::string text) {
    return {.code = "W-NO-LINES", .point = {}, .text = std::move(text)};
}

std::vector<Warning> save_addresses(OutputFile& file, const std::vector<LineReport>& reports,
                                    const std::vector<Point>& points) {
    bool has_addresses = false;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        std::string name = points[i].name;
        std::ranges::replace(name, ' ', '_');
        std::ranges::replace(name, '#', '_');
        for (const WarpAccess& warp : reports[i].line.samples) {
            const auto text = warps_file_line(name, warp);
            if (!text) continue;
            has_addresses = true;
            file.write(*text);
        }
    }
    if (!has_addresses)
        return {
            no_lines(fmt::format("{} was not written: no addresses were kept, and of machine "
                                 "code none are known",
                                 shown(file.path())))};
    file.commit();
    return {};
}

// Seconds of the whole run by the names of kernels that have no line; of graphs as well, of whose
// kernels nobody can tell.
struct TimeWithoutLines {
    double all = 0;  // of kernels with lines, too
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
        else if (std::ranges::none_of(
                     lines, [&](const LineSummary& line) { return line.site.function == name; }))
            time.of_kernels[kernel_name(name)] += seconds;
    }
    return time;
}

// Kernels whose code could not count itself. `may_ask_more`: for lines of machine code.
std::vector<Warning> kernels_without_lines(const TimeWithoutLines& time, bool may_ask_more) {
    const auto share = [&](double seconds) {
        return time.all > 0 ? fmt::format(": {:.0f} % of the GPU's time", 100 * seconds / time.all)
                            : std::string();
    };
    std::vector<Warning> warnings;
    NameList names(5);
    double seconds = 0;
    for (const auto& [name, of_kernel] : time.of_kernels) {
        names.add(name);
        seconds += of_kernel;
    }
    if (!time.of_kernels.empty())
        warnings.push_back(
            no_lines(fmt::format("no lines of {}{}{}", names.text(), share(seconds),
                                 may_ask_more ? "; --machine-code 1 runs the program once more for "
                                                "the one that takes most"
                                              : "")));
    if (time.in_graphs > 0)
        warnings.push_back(no_lines(fmt::format(
            "{:.0f} % of the GPU's time passed in CUDA graphs, and is no kernel's here; "
            "lines may hold what their kernels executed there",
            100 * time.in_graphs / time.all)));
    return warnings;
}

// Of code that was to count itself, why some did not: where nothing is left without lines it does
// not matter, as where CUPTI counted its kernels.
std::vector<Warning> code_as_it_was(const std::vector<Trace>& of_ptx,
                                    const TimeWithoutLines& time) {
    const std::set<std::string> reasons = names_in(of_ptx, &Trace::lacks_ptx);
    if (reasons.empty() || (time.of_kernels.empty() && time.in_graphs == 0)) return {};
    return {no_lines(fmt::format("of the code that the program loads some did not count itself: {}",
                                 fmt::join(reasons, "; ")))};
}

// What was asked for and did not come, where nothing says why.
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
    const std::string name = kernel_name(run.kernel);
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
                                 kernel_name(kernel), copies)));
    return warnings;
}

// `why`: they may.
std::vector<Warning> lines_that_differ(const std::vector<KernelSummary>& kernels,
                                       const std::vector<Trace>& traces, std::string_view why) {
    std::vector<Warning> warnings;
    for (const LinesDiffer& kernel : kernels_whose_lines_differ(kernels, traces))
        warnings.push_back(
            {.code = "W-LINES-DIFFER",
             .point = {},
             .text = fmt::format("the lines of {} add up to {:.0f} sectors, the launches that "
                                 "the hardware counted make {:.0f} of all: {}",
                                 kernel_name(kernel.function), kernel.sectors_of_lines,
                                 kernel.sectors_of_hardware, why)});
    return warnings;
}

// What went wrong with some kernels is said of them.
std::vector<Warning> problems_of_machine_code(const std::vector<MachineCodeRun>& runs) {
    std::map<std::string, std::vector<std::string>> kernels_of;
    for (const MachineCodeRun& run : runs)
        for (const Warning& problem : problems_of(run.traces, {}))
            kernels_of[problem.text].push_back(kernel_name(run.kernel));
    std::vector<Warning> warnings;
    for (const auto& [problem, kernels] : kernels_of)
        warnings.push_back(
            no_lines(kernels.size() > 1 && kernels.size() == runs.size()
                         ? problem
                         : fmt::format("{}: {}", fmt::join(kernels, ", "), problem)));
    return warnings;
}

// The one that saves most first. Of a kernel's machine code there is one.
std::vector<LineFinding> findings_of(const std::vector<LineReport>& reports,
                                     const std::vector<Point>& points, const Machine& machine) {
    const auto saves = [](const LineFinding& one) { return one.saves_seconds.value_or(0); };
    std::vector<LineFinding> findings;
    std::vector<std::string> names;
    for (const Point& point : points) names.push_back(point.name);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const std::string& function = reports[i].line.site.function;
        std::optional<LineFinding> finding;
        if (!reports[i].line.is_machine_code())
            finding = finding_of(reports[i], points[i].name, machine);
        else if (seen.insert(function).second)
            finding = finding_of_machine_code(reports, function, names);
        if (!finding) continue;
        const auto behind =
            std::ranges::upper_bound(findings, saves(*finding), std::ranges::greater(), saves);
        findings.insert(behind, std::move(*finding));
    }
    return findings;
}

// Counters may not be read, or give no value: code counts itself all the same.
std::vector<Warning> lines_without_times(const std::vector<KernelSummary>& kernels,
                                         const std::vector<LineSummary>& lines) {
    if (lines.empty() || std::ranges::any_of(kernels, &KernelSummary::has_time)) return {};
    return {{.code = "W-NO-COUNTERS",
             .point = {},
             .text = "lines have sectors, shapes and findings all the same; no times, and not what "
                     "a fix saves: the line that wastes most sectors comes first"}};
}

// Of machine code nobody can mend it.
bool lacks_line_information(const std::vector<LineSummary>& lines) {
    const auto is_ptx = [](const LineSummary& line) { return !line.is_machine_code(); };
    return std::ranges::any_of(lines, is_ptx) &&
           std::ranges::none_of(lines, [&](const LineSummary& line) {
               return is_ptx(line) && !line.place().file.empty();
           });
}

std::vector<Warning> warnings_of(const std::vector<KernelSummary>& kernels,
                                 const std::vector<LineSummary>& lines, const LineTraces& traces) {
    const TimeWithoutLines time = time_without_lines(kernels, lines);
    std::vector<Warning> all = kernels_without_lines(time, traces.may_ask_for_more);
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
        all.push_back({.code = "W-NO-LINE-INFO",
                       .point = {},
                       .text = "the program was built without line information: compile it with "
                               "nvcc -lineinfo to see source lines"});
    append(all, problems_of(traces.of_ptx, "W-NO-LINES"));
    append(all, code_as_it_was(traces.of_ptx, time));
    append(all, problems_of_machine_code(traces.of_machine_code));
    return all;
}

}  // namespace

std::vector<Warning> problems_of(const std::vector<Trace>& traces, std::string_view code) {
    std::set<std::string> said;
    std::vector<Warning> warnings;
    for (const Trace& trace : traces)
        for (const std::string& problem : trace.problems)
            if (said.insert(problem).second)
                warnings.push_back({.code = std::string(code), .point = {}, .text = problem});
    return warnings;
}

std::vector<Warning> why_it_ran_once(const std::vector<Trace>& traces) {
    std::set<std::string> reasons;
    for (const Trace& trace : traces)
        reasons.insert(trace.lacks_ptx.begin(), trace.lacks_ptx.end());
    if (reasons.empty()) return {};
    return {
        no_lines(fmt::format("the program was run once, as a second run could tell no lines; "
                             "of the code that it loads: {}",
                             fmt::join(reasons, "; ")))};
}

RunLines lines_of_run(const std::vector<KernelSummary>& kernels, const LineTraces& traces,
                      const std::optional<DeviceFacts>& facts, OutputFile* addresses) {
    std::vector<LineSummary> lines = summarize_lines(traces.of_ptx);
    for (const MachineCodeRun& run : traces.of_machine_code)
        std::ranges::move(lines_of_machine_code(run.traces), std::back_inserter(lines));
    const Machine machine = facts ? machine_of(*facts) : find_machine("h200");
    const std::vector<LineReport> reports = report_lines(lines, costs_of(kernels, facts));
    RunLines result;
    std::map<std::string, int> names;
    const bool has_machine_code = std::ranges::any_of(
        reports, [](const LineReport& one) { return one.line.is_machine_code(); });
    for (const LineReport& report : reports) {
        result.points.push_back(point_of(report, names));
        if (has_machine_code)
            result.points.back().parameters.emplace_back(std::string(code_parameter),
                                                         code_of(report));
    }
    result.findings = findings_of(reports, result.points, machine);
    result.warnings = warnings_of(kernels, lines, traces);
    try {
        if (addresses) append(result.warnings, save_addresses(*addresses, reports, result.points));
    } catch (const Error& error) {
        result.failure = error;
    }
    return result;
}

}  // namespace coalprof

#endif
