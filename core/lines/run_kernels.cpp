#include "core/lines/run_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/lines/line_findings.h"
#include "core/lines/line_points.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

constexpr std::array counted_kinds{AccessKind::load, AccessKind::store};

// Below this a verdict is "fine": as for findings.
constexpr double least_excess = 0.1;

struct SectorSums {
    double all = 0;
    double ideal = 0;
    double excess() const { return ideal > 0 ? (all - ideal) / ideal : 0; }
    double wasted_share() const { return all > 0 ? (all - ideal) / all : 0; }
};

// The lines of a function taken together.
struct FunctionLines {
    std::map<AccessKind, SectorSums> kinds;
    SectorSums sectors;
    double cost_seconds = 0;
    bool has_cost = true;  // all lines that waste have a cost
};

std::map<std::string, FunctionLines> by_function(const RunLines& lines) {
    std::map<std::string, FunctionLines> functions;
    for (const std::string& name : lines.counted_kernels) functions[name];
    for (const LineReport& report : lines.reports) {
        FunctionLines& function = functions[report.line.site.function];
        function.cost_seconds += report.saves_seconds.value_or(0);
        function.has_cost &= report.saves_seconds || report.wasted_share == 0;
        if (report.line.site.space != Space::global) continue;
        const SiteTotals& totals = report.line.totals;
        for (SectorSums* sums : {&function.kinds[report.line.site.kind], &function.sectors}) {
            sums->all += static_cast<double>(totals.sectors);
            sums->ideal += static_cast<double>(std::min(totals.ideal_sectors, totals.sectors));
        }
    }
    return functions;
}

// By bytes: a sector holds 32 of them, and each request needs one.
std::optional<SectorSums> least_by_bytes(const Readings& measured) {
    SectorSums sums;
    for (const AccessKind kind : counted_kinds) {
        const auto number = [&](AccessField field) -> const Reading& {
            return measured[access_counter(kind, field)];
        };
        const Reading& bytes = number(AccessField::unique_bytes);
        const Reading& sectors = number(AccessField::sectors);
        if (!is_number(bytes) || !is_number(sectors)) return std::nullopt;
        const double least =
            std::max(std::ceil(number_in(bytes) / static_cast<double>(sector_bytes)),
                     number_or(number(AccessField::requests), 0));
        sums.all += number_in(sectors);
        sums.ideal += std::min(least, number_in(sectors));
    }
    return sums;
}

// The facts known about one kernel, grid and block.
struct Judged {
    std::optional<double> excess;
    std::optional<double> cost_seconds;
    std::string verdict = "unknown";
};

std::string verdict_of(const std::string& kernel, double excess,
                       const std::vector<LineFinding>& findings) {
    const auto finding = std::ranges::find(findings, kernel, &LineFinding::kernel);
    const bool is_known = finding != findings.end() && finding->cause != wasted_sectors;
    if (!is_known) return excess < least_excess ? "fine" : "wasteful";
    std::string word = finding->cause;
    std::ranges::replace(word, '_', ' ');
    return word;
}

void set_ideal_sectors(Readings& measured, const FunctionLines& function) {
    for (const auto& [kind, sums] : function.kinds) {
        const Reading& sectors = measured[access_counter(kind, AccessField::sectors)];
        if (!is_number(sectors) || sums.all == 0) continue;
        measured[access_counter(kind, AccessField::ideal_sectors)] =
            static_cast<std::uint64_t>(std::llround(number_in(sectors) * sums.ideal / sums.all));
    }
    derive_ratios(measured);
}

class KernelPoints {
 public:
    explicit KernelPoints(const std::vector<KernelSummary>& kernels)
        : tells_device_(std::ranges::any_of(
              kernels, [](const KernelSummary& one) { return one.kernel.device != 0; })) {}

    Point point_of(const KernelSummary& summary) {
        const std::string full = demangled(summary.kernel.name);
        const std::string kernel = short_kernel_name(summary.kernel.name);
        Point point;
        std::string shape;
        point.parameters = {{"kernel", kernel}};
        const auto add = [&](const char* key, Value value) {
            shape += fmt::format(" {}={}", key, text_of(value));
            point.parameters.emplace_back(key, std::move(value));
        };
        if (summary.kernel.block[0] != 0) {  // a CUDA graph has no shape
            add("grid", dimensions_text(summary.kernel.grid));
            add("block", dimensions_text(summary.kernel.block));
        }
        if (tells_device_) add("device", summary.kernel.device);
        point.parameters.emplace_back("launches",
                                      summary.launches ? Value(*summary.launches) : Value{});
        point.parameters.emplace_back("counted", summary.counted);
        // All launches, of which few or none were counted.
        if (summary.has_time())
            point.parameters.emplace_back("total_seconds", summary.total_seconds());
        if (full != kernel) point.parameters.emplace_back("function", full);
        // Two functions may have one short name.
        point.name = names_.insert(kernel + shape).second ? kernel + shape : full + shape;
        if (summary.counted > 0 || summary.has_time()) point.measured = summary.measured;
        return point;
    }

 private:
    bool tells_device_;
    std::set<std::string> names_;
};

void add_verdict(Point& point, const Judged& judged) {
    const auto value = [](const std::optional<double>& number) {
        return number ? Value(*number) : Value{};
    };
    point.parameters.emplace_back("excess", value(judged.excess));
    point.parameters.emplace_back("cost_seconds", value(judged.cost_seconds));
    point.parameters.emplace_back("verdict", judged.verdict);
}

// `seconds_of_function`: of all shapes.
Judged judged_by_lines(const KernelSummary& summary, const FunctionLines& function,
                       double seconds_of_function, const std::vector<LineFinding>& findings) {
    Judged judged;
    judged.excess = function.sectors.excess();
    if (function.has_cost && seconds_of_function > 0)
        judged.cost_seconds =
            std::min(1.0, function.cost_seconds / seconds_of_function) * summary.total_seconds();
    judged.verdict = verdict_of(short_kernel_name(summary.kernel.name), *judged.excess, findings);
    return judged;
}

Judged judged_by_bytes(const KernelSummary& summary) {
    Judged judged;
    const auto sums = least_by_bytes(summary.measured);
    if (!sums) return judged;
    judged.excess = sums->excess();
    if (summary.has_time()) judged.cost_seconds = summary.total_seconds() * sums->wasted_share();
    judged.verdict = verdict_of({}, sums->excess(), {});
    return judged;
}

}  // namespace

std::vector<Point> points_of_kernels(const std::vector<KernelSummary>& kernels,
                                     const RunLines& lines) {
    const std::map<std::string, FunctionLines> functions = by_function(lines);
    std::map<std::string, double> seconds;
    for (const KernelSummary& summary : kernels)
        seconds[summary.kernel.name] += summary.total_seconds();
    std::vector<Point> points;
    KernelPoints maker(kernels);
    for (const KernelSummary& summary : kernels) {
        Point& point = points.emplace_back(maker.point_of(summary));
        const auto function = functions.find(summary.kernel.name);
        if (function == functions.end()) {
            add_verdict(point, judged_by_bytes(summary));
            continue;
        }
        if (point.measured) set_ideal_sectors(*point.measured, function->second);
        add_verdict(point, judged_by_lines(summary, function->second, seconds[summary.kernel.name],
                                           lines.findings));
    }
    return points;
}

std::vector<Point> points_of_kernels(const std::vector<KernelSummary>& kernels) {
    std::vector<Point> points;
    KernelPoints maker(kernels);
    for (const KernelSummary& summary : kernels) points.push_back(maker.point_of(summary));
    return points;
}

double share_without_lines(const std::vector<KernelSummary>& kernels, const RunLines& lines) {
    const std::map<std::string, FunctionLines> functions = by_function(lines);
    double all = 0;
    double without = 0;
    for (const KernelSummary& summary : kernels) {
        const double seconds = summary.total_seconds();
        all += seconds;
        if (!functions.contains(summary.kernel.name)) without += seconds;
    }
    return all > 0 ? without / all : 0;
}

bool is_fine_by_bytes(const KernelSummary& kernel) {
    const auto sums = least_by_bytes(kernel.measured);
    return sums && sums->excess() < least_excess;
}

std::string most_wasteful_by_bytes(const std::vector<KernelSummary>& kernels, const RunLines& lines,
                                   double least_share) {
    std::map<std::string, double> costs;
    double all = 0;
    for (const KernelSummary& summary : kernels) {
        all += summary.total_seconds();
        if (lines.counted_kernels.contains(summary.kernel.name)) continue;
        costs[summary.kernel.name] += judged_by_bytes(summary).cost_seconds.value_or(0);
    }
    const auto worst =
        std::ranges::max_element(costs, {}, [](const auto& one) { return one.second; });
    return worst != costs.end() && worst->second > least_share * all ? worst->first : std::string();
}

}  // namespace coalprof
