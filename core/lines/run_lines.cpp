#include "core/lines/run_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/access/warps_file.h"
#include "core/lines/line_findings.h"
#include "core/lines/line_points.h"
#include "core/lines/run_warnings.h"
#include "core/program/machine_code.h"
#include "core/text/describe.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

LineCosts costs_of(const std::vector<KernelSummary>& kernels, double passes_per_second) {
    LineCosts costs{.kernels = {}, .passes_per_second = passes_per_second};
    for (const KernelSummary& summary : kernels) {
        KernelTime& time = costs.kernels[summary.kernel.name];
        if (summary.has_time()) time.seconds = time.seconds.value_or(0) + summary.total_seconds();
        if (summary.launches) time.launches = time.launches.value_or(0) + *summary.launches;
    }
    return costs;
}

std::vector<LineSummary> all_lines(const LineTraces& traces) {
    std::vector<LineSummary> lines = summarize_lines(traces.of_ptx);
    for (const MachineCodeRun& run : traces.of_machine_code)
        std::ranges::move(lines_of_machine_code(run.traces), std::back_inserter(lines));
    return lines;
}

std::vector<Point> points_of_lines(const std::vector<LineReport>& reports) {
    // The source of counts matters where there are two.
    const bool has_machine_code = std::ranges::any_of(
        reports, [](const LineReport& one) { return one.line.is_machine_code(); });
    std::vector<Point> points;
    LinePoints names;
    for (const LineReport& report : reports) {
        const PtxSite& site = report.line.site;
        Point& point = points.emplace_back(
            names.point_of(report.line, {{"kernel", short_kernel_name(site.function)}}));
        if (has_machine_code)
            point.parameters.emplace_back(
                "code", std::string(report.line.is_machine_code() ? "machine code" : "PTX"));
        if (site.space == Space::global || report.line.is_machine_code())
            point.measured = report.measured;
        point.predicted = report.predicted;
    }
    return points;
}

}  // namespace

RunLines lines_of_run(const std::vector<KernelSummary>& kernels, const LineTraces& traces,
                      const Machine& machine, double passes_per_second) {
    RunLines result;
    const std::vector<LineSummary> lines = all_lines(traces);
    result.counted_kernels = names_in(traces.of_ptx, &Trace::rewritten);
    result.reports = report_lines(lines, costs_of(kernels, passes_per_second));
    result.points = points_of_lines(result.reports);
    std::vector<std::string> names;
    for (const Point& point : result.points) names.push_back(point.name);
    result.findings = findings_of(result.reports, names, machine);
    result.warnings = warnings_of_lines(kernels, lines, traces);
    return result;
}

std::vector<Warning> save_addresses(OutputFile& file, const RunLines& lines) {
    bool has_addresses = false;
    for (std::size_t i = 0; i < lines.reports.size(); ++i) {
        for (const WarpAccess& warp : lines.reports[i].line.samples) {
            const auto text = warps_file_line(lines.points[i].name, warp);
            if (!text) continue;
            has_addresses = true;
            file.write(*text);
        }
    }
    if (!has_addresses)
        return {of_run("W-NO-LINES",
                       fmt::format("{} was not written: no addresses were kept, and of machine "
                                   "code none are known",
                                   shown(file.path())))};
    file.commit();
    return {};
}

}  // namespace coalprof
