#include "core/kernel/kernel_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "core/kernel/kernel_faults.h"
#include "core/kernel/kernel_findings.h"
#include "core/kernel/regrouping.h"
#include "core/lines/line_findings.h"
#include "core/lines/line_points.h"
#include "core/runtime/signal.h"
#include "core/runtime/work_limits.h"
#include "core/sim/kernel_time.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

// Instructions of one line with the same kind of access are one, as in unrolled loops and in
// functions that are called twice.
using Key =
    std::tuple<SourceLine, SourceLine, std::string, Space, AccessKind, std::uint32_t, std::string>;
Key key_of(const PtxSite& site) {
    // For the toolkit's code the line is where it was inlined.
    return {site.source,      is_of_toolkit(site.source) ? site.inlined_at : SourceLine{},
            site.instruction, site.space,
            site.kind,        site.width_bytes,
            site.array};
}

struct Line {
    LineSummary summary;
    SiteCounts counts;
    std::vector<std::uint32_t> sites;
};

std::vector<Line> lines_of(const Code& code, const Machine& machine,
                           const std::vector<SiteCounts>& counts) {
    const bool counts_sectors = machine.rules->global == GlobalRule::sectors_by_warp;
    std::map<Key, Line> lines;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i].warps == 0) continue;
        PtxSite site = code.sites[i];
        site.space = counts[i].space;
        Line& line = lines[key_of(site)];
        line.summary.site = std::move(site);
        line.counts.add(counts[i]);
        line.sites.push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<Line> all;
    for (auto& [key, line] : lines) {
        const SiteCounts& of = line.counts;
        const std::uint64_t width = std::max(1u, line.summary.site.width_bytes);
        line.summary.totals = {
            .executed = of.warps,
            .lanes = of.lanes,
            .sectors = counts_sectors ? of.global.sectors : of.transactions.sectors(),
            .lines = of.global.lines,
            .places =
                (counts_sectors ? of.global.unique_bytes : of.transactions.unique_bytes) / width,
            .ideal_sectors = of.global.ideal_sectors,
            .passes = of.shared.wavefronts,
            .ideal_passes = of.shared.ideal_wavefronts};
        line.summary.samples = of.warps_kept();
        line.summary.walks = of.walks;
        all.push_back(std::move(line));
    }
    return all;
}

// Sentences of warnings; empty: there is nothing to warn of.

// Requests of the kernel that are not counted: each kind once.
std::string text_of_uncounted(const Code& code) {
    std::set<std::string> sorts;
    NameList names(6);
    for (const std::uint32_t at : code.uncounted) {
        const CodeStatement& statement = code.statements[at];
        const std::string place = place_text(statement.source);
        const std::string sort = fmt::format("'{}'{}", name_of(statement),
                                             place.empty() ? place : fmt::format(" ({})", place));
        if (sorts.insert(sort).second) names.add(sort);
    }
    if (sorts.empty()) return {};
    return fmt::format("the memory that {} reach{} is not counted. coalprof run counts it on a GPU",
                       names.text(), sorts.size() == 1 ? "es" : "");
}

std::string declared_as(const LaunchMemory& memory, const std::string& name) {
    const auto found = std::ranges::find(memory.arrays(), name, &LaunchArray::name);
    return fmt::format("--arg {}={}", printable(name),
                       found == memory.arrays().end() ? "" : found->declared);
}

// ". Not executed: k.cu:9 st.global.f32 out", what the table therefore lacks.
std::string text_of_idle(const Code& code, const std::vector<Line>& lines) {
    NameList names(3);
    std::set<Key> idle;
    // Some may have become a part of a wider one.
    const auto accesses = [](const PtxSite& site) {
        PtxSite of_any_width = site;
        of_any_width.width_bytes = 0;
        of_any_width.instruction.clear();
        return key_of(of_any_width);
    };
    for (const PtxSite& site : code.sites)
        if (std::ranges::none_of(
                lines,
                [&](const Line& one) { return accesses(one.summary.site) == accesses(site); }) &&
            idle.insert(key_of(site)).second)
            names.add(printable(fmt::format("{}{}{} {}", place_text(site.source),
                                            site.source.file.empty() ? "" : " ", site.instruction,
                                            site.array)));
    return idle.empty() ? std::string() : ". Not executed: " + names.text();
}

std::string text_of_contents(const std::vector<std::string>& missing, const LaunchMemory& memory,
                             const std::string& idle) {
    if (missing.empty()) return {};
    const auto text = [](const std::string& name) {
        return (std::ranges::all_of(name, is_digit) ? "parameter " : "") + printable(name);
    };
    return fmt::format(
        "addresses or branches depend on the contents of {}, which were not given: zeros were "
        "assumed. To give them: {}=iota, =random or =@file.npy{}",
        joined(missing, text), declared_as(memory, missing.front()), idle);
}

// Lines whose counts and costs would otherwise seem too few.
std::string text_of_merged(const KernelResult& result, const Code& code) {
    std::vector<bool> is_merged(code.sites.size());
    for (const PtxInstruction& one : code.instructions)
        if (one.state == PtxState::shared && one.site != ~0u)
            is_merged[one.site] = is_merged[one.site] ||
                                  code.sites[one.site].instruction.size() ==
                                      name_of(code.statements[one.statement]).size() + 3;  // ".v4"
    NameList merged(3);
    for (std::size_t i = 1; i < result.points.size(); ++i)
        if (std::ranges::any_of(result.sites[i], [&](auto site) { return is_merged[site]; }))
            merged.add(result.points[i].name);
    if (merged.text().empty()) return {};
    return "ptxas makes one access of several that lie side by side, and they count as one: " +
           merged.text();
}

// Lines of which machine code may make fewer accesses.
std::string text_of_steps(const KernelResult& result, const Code& code,
                          const std::vector<SiteCounts>& counts) {
    NameList steps(3);
    for (std::size_t i = 1; i < result.points.size() && !code.is_as_compiled; ++i)
        if (std::ranges::any_of(result.sites[i], [&](std::uint32_t site) {
                return counts[site].space == Space::shared && code.sites[site].width_bytes < 16 &&
                       2 * counts[site].walks > counts[site].warps;
            }))
            steps.add(result.points[i].name);
    if (steps.text().empty()) return {};
    return "counts are those of PTX where a loop steps through shared memory by one element, as no "
           "ptxas here takes this PTX: machine code may have fewer and wider accesses: " +
           steps.text();
}

// One line: those who want bounds checked need no more.
std::string text_of_bounds(const std::vector<std::string>& arrays, const LaunchMemory& memory) {
    if (arrays.empty()) return {};
    NameList names(3);
    for (const std::string& one : arrays) names.add(printable(one));
    return fmt::format("bounds of {}{} are unchecked: give {}",
                       std::ranges::all_of(arrays.front(), is_digit) ? "parameters " : "",
                       names.text(), declared_as(memory, arrays.front()));
}

void warn(KernelResult& result, std::string_view code, std::string text) {
    if (!text.empty()) result.warnings.push_back({std::string(code), {}, std::move(text)});
}

}  // namespace

Readings readings_of(const Code& code, const Machine& machine,
                     const std::vector<SiteCounts>& counts,
                     const std::vector<std::uint32_t>& sites) {
    std::map<std::pair<Space, AccessKind>, SiteCounts> sums;
    for (const std::uint32_t site : sites)
        if (counts[site].warps != 0)
            sums[{counts[site].space, code.sites[site].kind}].add(counts[site]);
    Readings all;
    for (const auto& [key, sum] : sums)
        sum.readings(key.second, machine).each([&](Counter counter, const Reading& reading) {
            // Atomics and reductions on shared memory have one counter.
            const Reading& before = all[counter];
            if (std::holds_alternative<std::uint64_t>(before) &&
                std::holds_alternative<std::uint64_t>(reading))
                all[counter] = std::get<std::uint64_t>(before) + std::get<std::uint64_t>(reading);
            else
                all[counter] = reading;
        });
    derive_ratios(all);
    // The result: every launch that does the same work stores as much, however often.
    std::uint64_t stored = 0;
    for (const std::uint32_t site : sites)
        if (code.sites[site].kind == AccessKind::store && counts[site].space == Space::global)
            stored += counts[site].global.unique_bytes + counts[site].transactions.unique_bytes -
                      counts[site].repeated_bytes;
    if (stored != 0) all[Counter::useful_bytes] = stored;
    return all;
}

KernelResult points_of_kernel(const Code& code, const KernelLaunch& launch,
                              const LaunchMemory& memory, const Machine& machine,
                              const std::vector<SiteCounts>& counts, const ExecutionNotes& notes) {
    const std::vector<Line> lines = lines_of(code, machine, counts);
    KernelResult result;
    Point kernel;
    kernel.name = short_kernel_name(code.kernel);
    const NamedValues of_kernel{{"kernel", kernel.name},
                                {"grid", dimensions_text(launch.grid)},
                                {"block", dimensions_text(launch.block)}};
    // "all" instead of a line, so that a table shows no cell of it as absent.
    kernel.parameters = {{"line", "all"}};
    kernel.parameters.insert(kernel.parameters.end(), of_kernel.begin(), of_kernel.end());
    kernel.parameters.emplace_back("op", "all");
    if (std::ranges::any_of(lines, [](const Line& one) { return !one.summary.site.array.empty(); }))
        kernel.parameters.emplace_back("array", "all");
    kernel.parameters.emplace_back("width_bytes", "all");
    std::vector<std::uint32_t> all_sites(code.sites.size());
    std::iota(all_sites.begin(), all_sites.end(), 0u);
    kernel.predicted = readings_of(code, machine, counts, all_sites);
    result.sites.push_back(std::move(all_sites));
    result.points.push_back(std::move(kernel));
    result.warps.emplace_back();
    std::vector<LineSummary> summaries;
    for (const Line& line : lines) summaries.push_back(line.summary);
    for (FoundFault& one : found_faults(code, launch, machine, notes)) {
        result.faults.push_back(std::move(one.fault));
        result.findings.push_back(std::move(one.finding));
    }
    if (!result.findings.empty())
        result.points.front().failure =
            fmt::format("{}: {} No time is predicted for such a launch",
                        result.findings.front().point, result.findings.front().text);
    const std::vector<LineReport> reports = report_lines(summaries, {});
    LinePoints maker;
    std::vector<std::string> names;
    for (const LineReport& report : reports) {
        stop_if_asked();
        const auto line = std::ranges::find_if(lines, [&](const Line& one) {
            return key_of(one.summary.site) == key_of(report.line.site);
        });
        Point& point = result.points.emplace_back(maker.point_of(report.line, of_kernel));
        point.predicted = line->counts.readings(report.line.site.kind, machine);
        result.warps.push_back(line->counts.warps_kept());
        result.sites.push_back(line->sites);
        names.push_back(point.name);
    }
    // Waste can wait until the fault is mended.
    if (result.findings.empty()) {
        result.findings = findings_of(reports, names, machine);
        add_repeat_findings(result, code, launch, counts);
    }
    warn(result, "W-UNCOUNTED", text_of_uncounted(code));
    if ((notes.decisive & by_fetches) != 0)
        warn(result, "W-CONTENTS",
             "addresses or branches depend on what a tensor map or a texture brings, which is not "
             "known here: what shared memory held before, and zeros of textures, were taken. "
             "coalprof run counts on a GPU");
    warn(result, "W-CONTENTS",
         text_of_contents(memory.names_of(notes.decisive), memory, text_of_idle(code, lines)));
    return result;
}

namespace {

// Student's t with 15 degrees of freedom: nine of ten means of 16 groups lie within this many
// standard errors.
constexpr double t_of_16_groups = 1.753;

double standard_error(const std::vector<double>& values) {
    double mean = 0, squares = 0;
    for (const double one : values) mean += one;
    const auto count = static_cast<double>(values.size());
    mean /= count;
    for (const double one : values) squares += (one - mean) * (one - mean);
    return values.size() < 2 ? 0 : std::sqrt(squares / (count - 1) / count);
}

// From a sample of blocks to all of them: scales the totals of a point. `groups`: its readings in
// each part of the sample, all of one size; their differences give the intervals.
void extrapolate(Point& point, const std::vector<Readings>& groups, double scale) {
    Readings scaled = point.predicted;
    Estimates estimates;
    point.predicted.each([&](Counter counter, const Reading& reading) {
        if (!is_number(reading)) return;
        const bool is_total = std::holds_alternative<std::uint64_t>(reading);
        const double factor = is_total ? scale : 1;
        std::vector<double> values;
        for (const Readings& one : groups)  // missing totals of a group are 0
            if (is_number(one[counter]) || is_total)
                values.push_back(number_or(one[counter], 0) * factor *
                                 (is_total ? static_cast<double>(groups.size()) : 1));
        const double value = number_in(reading) * factor;
        const double half = t_of_16_groups * standard_error(values);
        if (is_total) scaled[counter] = static_cast<std::uint64_t>(std::llround(value));
        estimates.intervals.push_back({counter, std::max(0.0, value - half), value + half});
    });
    point.predicted = scaled;
    point.estimates = std::move(estimates);
}

// Where costs are equal, those that waste most stay first.
void put_costliest_first(KernelResult& result) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 1; i < result.points.size(); ++i)
        order.emplace_back(-number_or(result.points[i].predicted[Counter::cost_share], 0), i);
    std::ranges::sort(order);
    const auto reorder = [&](auto& all) {
        auto before = std::move(all);
        all.clear();
        all.push_back(std::move(before.front()));
        for (const auto& [cost, at] : order) all.push_back(std::move(before[at]));
    };
    reorder(result.points);
    reorder(result.warps);
    reorder(result.sites);
}

// Counts accesses, and keeps L2's view of them.
class CountingSink : public AccessSink {
 public:
    CountingSink(const Machine& machine, const Code& code, std::size_t samples,
                 const KernelLaunch& launch, std::uint64_t at_once)
        : counter(machine, code.sites.size(), samples, sorts_of_atomics(code, machine)),
          stream(launch, at_once, code.sites.size()) {}
    void begin(const BlockBox& box) override {
        counter.begin(box);
        stream.begin(box);
        idle_now_ = box.blocks();
    }
    void take(std::uint32_t site, Space space, const WarpAccess& access, const Growth& growth,
              const BlockBox& box) override {
        idle_now_ = 0;
        counter.take(site, space, access, growth, box);
        if (space == Space::global)
            stream.take(site, access, growth, box);
        else
            stream.note_work();
    }
    void resume(std::uint32_t warp) override {
        counter.resume(warp);
        stream.resume(warp);
    }
    void keep() override {
        counter.keep();
        stream.keep();
        idle += idle_now_;
    }
    void drop() override {
        counter.drop();
        stream.drop();
    }

    SiteCounter counter;
    L2Stream stream;
    std::uint64_t idle = 0;  // blocks that access no memory

 private:
    std::uint64_t idle_now_ = 0;
};

std::optional<SimulatedLaunch> add_time(const Code& code, const KernelLaunch& launch,
                                        const LaunchMemory& memory, const Machine& machine,
                                        std::deque<CountingSink>& sinks,
                                        const std::vector<SiteCounts>& counts, double scale,
                                        Point& point) {
    LaunchTotals totals{.sectors = {}, .lines = {}, .sampled = scale};
    for (const SiteCounts& one : counts) {
        const bool is_global = one.space == Space::global;
        totals.sectors.push_back(is_global ? static_cast<double>(one.global.sectors) * scale : 0);
        totals.lines.push_back(is_global ? static_cast<double>(one.global.lines) * scale : 0);
    }
    L2Stream& stream = sinks.front().stream;
    for (std::size_t i = 1; i < sinks.size(); ++i) stream.add(sinks[i].stream);
    std::optional<SimulatedLaunch> simulated =
        simulate_launch(code, launch, memory, machine, stream, totals);
    if (!simulated) return simulated;
    Estimates added = estimates_of(*simulated, machine, point.predicted);
    if (!point.estimates) point.estimates.emplace();
    point.estimates->limits = added.limits;
    std::ranges::move(added.intervals, std::back_inserter(point.estimates->intervals));
    return simulated;
}

// The code whose accesses of shared memory take the passes that were counted.
Code with_passes(Code code, const std::deque<RegroupingSink>& regrouping,
                 const std::vector<SiteCounts>& counts) {
    for (std::uint32_t i = 0; i < code.machine_widths.size(); ++i) {
        double executions = 0;
        for (const RegroupingSink& one : regrouping)
            executions += static_cast<double>(one.executions(i));
        if (executions == 0) continue;
        const SharedCounts& of = counts[i].shared;
        code.machine_widths[i].passes = static_cast<double>(of.wavefronts) / executions;
        code.machine_widths[i].ideal_passes = static_cast<double>(of.ideal_wavefronts) / executions;
    }
    return code;
}

}  // namespace

KernelResult predict_kernel(const Code& ptx, const KernelLaunch& launch, LaunchMemory& memory,
                            const Machine& machine, const PredictionOptions& options) {
    Code code = ptx;
    std::deque<CountingSink> sinks;
    std::deque<RegroupingSink> regrouping;
    const std::uint64_t at_once = blocks_at_once(code, launch, machine);
    // A large program gets few: all sinks together may not take much memory.
    const std::size_t samples =
        std::clamp<std::size_t>(16384 / (code.sites.size() + 1), 4, most_samples);
    const bool finds_size = code.uses_dynamic_shared && launch.dynamic_shared_bytes == 0;
    KernelLaunch executed = launch;
    if (finds_size) executed.dynamic_shared_bytes = most_dynamic_shared(code, machine);
    const CountedWork executing("executing " + short_kernel_name(code.kernel));
    const Execution execution =
        execute(code, executed, memory, options.limits, options.threads, [&]() -> AccessSink& {
            AccessSink& sink = sinks.emplace_back(machine, code, samples, launch, at_once);
            return code.machine_widths.empty() ? sink : regrouping.emplace_back(code, sink);
        });
    if (finds_size) require_shared_size(code, execution.notes);
    const bool is_sample = execution.sampled_blocks != 0;
    const auto keep_groups = [](auto& all) {
        while (all.size() > sample_groups) all.pop_front();
    };
    if (is_sample) {
        keep_groups(sinks);
        keep_groups(regrouping);
    }
    std::vector<SiteCounts> counts(code.sites.size());
    for (const CountingSink& one : sinks)
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i].add(one.counter.counts()[i], samples);
    KernelResult result = points_of_kernel(code, launch, memory, machine, counts, execution.notes);
    code = with_passes(std::move(code), regrouping, counts);
    const double scale = is_sample ? static_cast<double>(launch.blocks()) /
                                         static_cast<double>(execution.sampled_blocks)
                                   : 1;
    for (std::size_t i = 0; is_sample && i < result.points.size(); ++i) {
        std::vector<Readings> groups;
        for (const CountingSink& one : sinks)
            groups.push_back(readings_of(code, machine, one.counter.counts(), result.sites[i]));
        extrapolate(result.points[i], groups, scale);
    }
    std::uint64_t idle = 0;
    for (const CountingSink& one : sinks) idle += one.idle;
    if (!code.sites.empty() && result.faults.empty())
        result.idle_share =
            static_cast<double>(idle) * scale / static_cast<double>(launch.blocks());
    Point& kernel = result.points.front();
    std::optional<SimulatedLaunch> simulated;
    if (kernel.failure.empty())
        simulated = add_time(code, launch, memory, machine, sinks, counts, scale, kernel);
    else
        kernel.predicted[Counter::duration_seconds] = Unavailable{"the launch has a fault"};
    for (std::size_t i = 0; simulated && i < result.points.size(); ++i) {
        add_passes(simulated->time, result.sites[i], machine, result.points[i]);
        if (i > 0) add_cost(simulated->time, result.sites[i], machine, result.points[i]);
    }
    if (simulated && options.prices_findings) {
        if (simulated->time.limits.front() == Limit::l1) add_pass_findings(result);
        price_findings(result, {code, launch, memory, machine, *simulated}, counts, scale);
        put_costliest_first(result);
    }
    if (options.prices_findings) warn(result, "W-MERGED", text_of_merged(result, code));
    warn(result, "W-PTX", text_of_steps(result, code, counts));
    if (is_sample)
        warn(result, "W-SAMPLED",
             fmt::format("{} of {} blocks were executed: totals are estimates, and their intervals "
                         "hold nine of ten. --all executes every block",
                         execution.sampled_blocks, launch.blocks()));
    warn(result, bounds_code,
         text_of_bounds(memory.names_of(execution.notes.without_bounds), memory));
    return result;
}

}  // namespace coalprof
