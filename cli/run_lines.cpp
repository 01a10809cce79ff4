#include "cli/run_lines.h"

#ifdef COALPROF_HAS_CUDA

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "cli/run_warnings.h"
#include "core/explain/line_findings.h"
#include "core/run/device_machine.h"
#include "core/trace/lines.h"
#include "core/trace/machine_code.h"
#include "core/warps/warps_file.h"
#include "core/write/output_file.h"
#include "core/write/source_text.h"
#include "cupti/attach/choice.h"

namespace coalprof {
namespace {

LineCosts costs_of(const std::vector<KernelSummary>& kernels,
                   const std::optional<DeviceFacts>& facts) {
    LineCosts costs;
    for (const KernelSummary& summary : kernels)
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

void save_addresses(const std::string& path, const std::vector<LineReport>& reports,
                    const std::vector<Point>& points) {
    OutputFile file(path);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        std::string name = points[i].name;
        std::ranges::replace(name, ' ', '_');
        std::ranges::replace(name, '#', '_');
        for (const WarpAccess& warp : reports[i].line.samples)
            if (const auto text = warps_file_line(name, warp)) file.write(*text);
    }
    file.commit();
}

Warning no_lines(std::string text) {
    return {.code = "W-NO-LINES", .point = {}, .text = std::move(text)};
}

// Kernels whose code could not count itself. `may_ask_more`: for lines of machine code.
std::vector<Warning> kernels_without_lines(const std::vector<KernelSummary>& kernels,
                                           const std::vector<LineSummary>& lines,
                                           bool may_ask_more) {
    double all = 0;
    std::map<std::string, double> missing;
    for (const KernelSummary& summary : kernels) {
        all += summary.total_seconds();
        if (std::ranges::none_of(lines, [&](const LineSummary& line) {
                return line.site.function == summary.kernel.name;
            }))
            missing[kernel_name(summary.kernel.name)] += summary.total_seconds();
    }
    if (missing.empty()) return {};
    std::vector<std::string> names;
    double seconds = 0;
    for (const auto& [name, time] : missing) {
        if (names.size() < 5) names.push_back(name);
        seconds += time;
    }
    if (missing.size() > names.size())
        names.push_back(fmt::format("{} more", missing.size() - names.size()));
    return {no_lines(fmt::format("no lines of {}: {:.0f} % of the GPU's time{}",
                                 fmt::join(names, ", "), all > 0 ? 100 * seconds / all : 0.0,
                                 may_ask_more ? "; --machine-code 1 runs the program once more "
                                                "for the one that takes most"
                                              : ""))};
}

// Of machine code what was asked for and did not come, where nothing says why.
std::vector<Warning> silent_kernels(const LineTraces& traces) {
    const std::vector<Trace>& told = traces.of_machine_code;
    if (!problems_of(told, {}).empty()) return {};
    std::vector<Warning> warnings;
    for (const std::string& kernel : traces.asked_for) {
        const bool was_launched = std::ranges::any_of(told, [&](const Trace& trace) {
            return trace.launches && std::ranges::any_of(*trace.launches, [&](const auto& entry) {
                       return entry.first.name == kernel;
                   });
        });
        const bool has_instructions = std::ranges::any_of(told, [&](const Trace& trace) {
            return std::ranges::count(trace.instructions, kernel, &TracedInstruction::function) > 0;
        });
        const std::string name = kernel_name(kernel);
        if (!was_launched)
            warnings.push_back(no_lines(fmt::format(
                "{} was not launched in the run that was to count its instructions", name)));
        else if (!has_instructions)
            warnings.push_back(
                no_lines(fmt::format("CUPTI counted no memory instructions of {}", name)));
    }
    return warnings;
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

// The one that saves most first. Of a kernel's machine code there is one, at the instruction that
// wastes most, which comes first of them.
std::vector<LineFinding> findings_of(const std::vector<LineReport>& reports,
                                     const std::vector<Point>& points, const Machine& machine) {
    const auto saves = [](const LineFinding& one) { return one.saves_seconds.value_or(0); };
    std::vector<LineFinding> findings;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const std::string& function = reports[i].line.site.function;
        std::optional<LineFinding> finding;
        if (!reports[i].line.is_machine_code())
            finding = finding_of(reports[i], points[i].name, machine);
        else if (seen.insert(function).second)
            finding = finding_of_machine_code(reports, function, points[i].name);
        if (!finding) continue;
        const auto behind =
            std::ranges::upper_bound(findings, saves(*finding), std::ranges::greater(), saves);
        findings.insert(behind, std::move(*finding));
    }
    return findings;
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
    std::vector<Warning> all = kernels_without_lines(kernels, lines, traces.may_ask_for_more);
    append(all, silent_kernels(traces));
    append(all, bulk_copies_in(traces.of_machine_code));
    append(all, lines_that_differ(kernels, traces.of_ptx,
                                  "where lanes part, the program's own code is arranged in another "
                                  "way, or later launches ask for other sectors"));
    append(all, lines_that_differ(kernels, traces.of_machine_code,
                                  "its launches ask for other sectors from run to run"));
    if (lacks_line_information(lines))
        all.push_back({.code = "W-NO-LINE-INFO",
                       .point = {},
                       .text = "the program was built without line information: compile it with "
                               "nvcc -lineinfo to see source lines"});
    append(all, problems_of(traces.of_ptx, "W-NO-LINES"));
    append(all, problems_of(traces.of_machine_code, "W-NO-LINES"));
    return all;
}

}  // namespace

std::string kernel_name(const std::string& symbol) {
    std::string name = demangled(symbol);
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = name.find(unnamed, at)) != name.npos;)
        name.erase(at, unnamed.size());
    if (name.starts_with('(')) return name;  // no function's
    std::string plain;
    int depth = 0;
    for (const char c : name) {
        if (c == '<') ++depth;
        if (c == '(' && depth == 0 && !plain.empty()) break;
        if (depth == 0) plain += c;
        if (c == '>') --depth;
    }
    const std::size_t space = plain.rfind(' ');
    if (space != plain.npos && space + 1 < plain.size()) plain.erase(0, space + 1);
    return depth == 0 && !plain.empty() ? plain : name;
}

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
                      const std::optional<DeviceFacts>& facts, const std::string& addresses) {
    std::vector<LineSummary> lines = summarize_lines(traces.of_ptx);
    std::ranges::move(lines_of_machine_code(traces.of_machine_code), std::back_inserter(lines));
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
    if (!addresses.empty()) save_addresses(addresses, reports, result.points);
    return result;
}

}  // namespace coalprof

#endif
