#include "core/lines/line_report.h"

#include <algorithm>
#include <tuple>

namespace coalprof {
namespace {

// By the rules of 7.0 and later, which hold for all that can be counted.
void predict_shared(LineReport& report) {
    const LineSummary& line = report.line;
    Readings& readings = report.predicted;
    const SharedCounters keys = shared_counters(line.site.kind);
    readings[keys.requests] = line.totals.executed;
    // Which lanes of an atomic wait for each other is not known.
    if (!keys.conflicts || line.totals.passes == 0) return;
    const std::uint64_t conflicts =
        line.totals.passes - std::min(line.totals.passes, line.totals.ideal_passes);
    readings[keys.wavefronts] = line.totals.passes;
    readings[*keys.conflicts] = conflicts;
    derive_ratios(readings);
    report.wasted_share = static_cast<double>(conflicts) / static_cast<double>(line.totals.passes);
}

// Passes counted by CUPTI.
void take_counted_passes(LineReport& report) {
    report.measured = readings_of(report.line);
    const SharedCounters keys = shared_counters(report.line.site.kind);
    const double passes = number_or(report.measured[keys.wavefronts], 0);
    if (passes > 0 && keys.conflicts)
        report.wasted_share = number_or(report.measured[*keys.conflicts], 0) / passes;
}

// `seconds`: the kernel's time, `sectors`: all of its sectors.
void add_sectors(LineReport& report, std::optional<double> seconds, double sectors) {
    report.measured = readings_of(report.line);
    const auto wasted = static_cast<double>(report.line.wasted_sectors());
    if (report.line.totals.sectors > 0)
        report.wasted_share = wasted / static_cast<double>(report.line.totals.sectors);
    if (seconds && sectors > 0) report.saves_seconds = *seconds * wasted / sectors;
}

void add_shared(LineReport& report, std::optional<double> seconds, double passes_per_second) {
    if (report.line.is_machine_code())
        take_counted_passes(report);  // only some launches were counted: it has no time
    else
        predict_shared(report);
    const auto conflicts = shared_counters(report.line.site.kind).conflicts;
    const double passes = conflicts ? number_or(report.predicted[*conflicts], 0) : 0;
    if (seconds && passes_per_second > 0)
        report.saves_seconds = std::min(*seconds, passes / passes_per_second);
}

}  // namespace

std::vector<LineReport> report_lines(std::vector<LineSummary> lines, const LineCosts& costs) {
    std::map<std::string, double> sectors_of_kernel;
    for (const LineSummary& line : lines)
        if (line.site.space == Space::global)
            sectors_of_kernel[line.site.function] += static_cast<double>(line.totals.sectors);
    std::vector<LineReport> reports;
    for (LineSummary& line : lines) {
        LineReport report{.line = std::move(line),
                          .measured = {},
                          .predicted = {},
                          .wasted_share = 0,
                          .saves_seconds = {},
                          .kernel = {}};
        const std::string& function = report.line.site.function;
        if (const auto kernel = costs.kernels.find(function); kernel != costs.kernels.end())
            report.kernel = kernel->second;
        if (report.line.site.space == Space::global)
            add_sectors(report, report.kernel.seconds, sectors_of_kernel[function]);
        else if (report.line.site.space == Space::local)
            report.predicted = readings_of(report.line);  // by the interleaving
        else
            add_shared(report, report.kernel.seconds, costs.passes_per_second);
        reports.push_back(std::move(report));
    }
    std::ranges::sort(reports, [](const LineReport& a, const LineReport& b) {
        const auto rank = [](const LineReport& report) {
            return std::tuple(-report.saves_seconds.value_or(0),
                              -static_cast<double>(report.line.wasted_sectors()),
                              -report.wasted_share, report.line.place(), report.line.site.function,
                              report.line.offset, report.line.site.instruction);
        };
        return rank(a) < rank(b);
    });
    return reports;
}

}  // namespace coalprof
