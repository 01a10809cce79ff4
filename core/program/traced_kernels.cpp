#include "core/program/traced_kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "core/program/machine_code.h"
#include "core/result/counter.h"

namespace coalprof {
namespace {

constexpr std::size_t most_samples_of_line = 256;

// Copies of 16 bytes past L1 (cp.async.cg): they asked for 65,536 sectors, which L2 gave, and the
// hardware's counter of loads read 32,768 (lanes 32 bytes apart, H200, 2026-11-23).
bool is_miscounted(const PtxSite& site) {
    return site.width_bytes == 16 && (site.instruction.starts_with("cp.async.cg") ||
                                      site.instruction.starts_with("asynchronous copy"));
}

// None: not all are known, as in a graph, or where the program ended early.
std::optional<std::set<std::string>> launched_in(const Trace& trace) {
    if (!trace.launches) return std::nullopt;
    std::set<std::string> names;
    for (const auto& [kernel, count] : *trace.launches) {
        if (is_graph(kernel)) return std::nullopt;
        names.insert(kernel.name);
    }
    return names;
}

using Samples = std::map<Counter, std::vector<Reading>>;

// A launch without a value of a counter is left out.
Reading median_of(std::vector<Reading> readings) {
    const auto numbers = std::ranges::partition(readings, is_number);
    const auto count = static_cast<std::ptrdiff_t>(readings.size() - numbers.size());
    if (count == 0) return readings.front();
    const auto middle = readings.begin() + (count - 1) / 2;
    std::nth_element(
        readings.begin(), middle, readings.begin() + count,
        [](const Reading& a, const Reading& b) { return number_in(a) < number_in(b); });
    return *middle;
}

bool vary(const std::vector<Reading>& readings) {
    return std::ranges::adjacent_find(readings, [](const Reading& a, const Reading& b) {
               return is_number(a) && is_number(b) && number_in(a) != number_in(b);
           }) != readings.end();
}

double sectors_of(const KernelSummary& summary) {
    double sectors = 0;
    for (const Counter counter : {Counter::load_sectors, Counter::store_sectors})
        sectors += number_or(summary.measured[counter], 0);
    return sectors * static_cast<double>(summary.launches.value_or(summary.counted));
}

// The median of several processes is that of the one with most launches.
void add_times(KernelSummary& summary, const TimedLaunches& times) {
    if (times.launches == 0) return;
    TimedLaunches& sum = summary.timed ? *summary.timed : summary.timed.emplace();
    if (times.launches >= sum.launches) sum.median_seconds = times.median_seconds;
    sum.launches += times.launches;
    sum.total_seconds += times.total_seconds;
}

}  // namespace

std::uint64_t LineSummary::wasted_sectors() const {
    return totals.sectors > totals.ideal_sectors ? totals.sectors - totals.ideal_sectors : 0;
}

const SourceLine& LineSummary::place() const {
    return is_of_toolkit(site.source) && !site.inlined_at.file.empty() ? site.inlined_at
                                                                       : site.source;
}

std::vector<LineSummary> summarize_lines(const std::vector<Trace>& traces) {
    using Key = std::tuple<std::string, SourceLine, SourceLine, std::string, Space, AccessKind,
                           std::uint32_t, std::string>;
    std::map<Key, LineSummary> lines;
    for (const Trace& trace : traces)
        for (const auto& [id, traced] : trace.sites) {
            const PtxSite& site = traced.site;
            LineSummary& line =
                lines[{site.function, site.source, site.inlined_at, site.instruction, site.space,
                       site.kind, site.width_bytes, site.array}];
            line.site = site;
            line.totals += traced.totals;
            for (const WarpAccess& warp : traced.samples)
                if (line.samples.size() < most_samples_of_line) line.samples.push_back(warp);
        }
    std::vector<LineSummary> all;
    for (auto& [key, line] : lines) all.push_back(std::move(line));
    return all;
}

Readings readings_of(const LineSummary& line) {
    if (line.counted) return *line.counted;
    Readings readings;
    if (line.site.space == Space::local) {
        // Only the sectors of one word of each lane were counted.
        const bool is_load = line.site.kind == AccessKind::load;
        readings[is_load ? Counter::local_load_requests : Counter::local_store_requests] =
            line.totals.executed;
        readings[is_load ? Counter::local_load_sectors : Counter::local_store_sectors] =
            line.totals.sectors * std::max(1u, line.site.width_bytes / local_word_bytes);
        return readings;
    }
    const auto set = [&](AccessField counter, std::uint64_t value) {
        readings[access_counter(line.site.kind, counter)] = value;
    };
    set(AccessField::requests, line.totals.executed);
    set(AccessField::sectors, line.totals.sectors);
    set(AccessField::lines, line.totals.lines);
    set(AccessField::unique_bytes, line.totals.places * line.site.width_bytes);
    set(AccessField::ideal_sectors, line.totals.ideal_sectors);
    derive_ratios(readings);
    return readings;
}

std::vector<LinesDiffer> kernels_whose_lines_differ(const std::vector<KernelSummary>& kernels,
                                                    const std::vector<Trace>& traces) {
    constexpr double tolerated = 0.02;
    if (std::ranges::any_of(kernels, is_graph, &KernelSummary::kernel)) return {};
    std::map<std::string, std::optional<double>> hardware;  // none: not known
    for (const Trace& trace : traces) {
        if (!trace.launches) return {};  // killed
        for (const auto& [kernel, launches] : *trace.launches) {
            if (is_graph(kernel)) return {};
            const auto counted = std::ranges::find_if(kernels, [&](const KernelSummary& summary) {
                return summary.kernel.name == kernel.name && summary.kernel.grid == kernel.grid &&
                       summary.kernel.block == kernel.block;
            });
            auto& sum = hardware.try_emplace(kernel.name, 0.0).first->second;
            if (counted == kernels.end() || counted->counted == 0 || counted->sectors_vary) {
                sum.reset();
                continue;
            }
            if (!sum) continue;
            for (const Counter counter : {Counter::load_sectors, Counter::store_sectors})
                *sum += number_or(counted->measured[counter], 0) * static_cast<double>(launches);
        }
    }
    std::map<std::string, double> of_lines;
    std::vector<LineSummary> lines = summarize_lines(traces);
    std::ranges::move(lines_of_machine_code(traces), std::back_inserter(lines));
    for (const LineSummary& line : lines) {
        if (!hardware.contains(line.site.function)) return {};  // a function of several kernels
        const bool is_counted =
            line.site.kind == AccessKind::load || line.site.kind == AccessKind::store;
        if (is_miscounted(line.site)) hardware[line.site.function].reset();
        if (line.site.space == Space::global && is_counted)
            of_lines[line.site.function] += static_cast<double>(line.totals.sectors);
    }
    std::vector<LinesDiffer> differ;
    for (const auto& [name, sectors] : of_lines) {
        const double counted = hardware[name].value_or(0);
        if (counted == 0) continue;
        if (std::abs(sectors - counted) > tolerated * counted)
            differ.push_back({name, sectors, counted});
    }
    return differ;
}

bool may_have_lines(const std::vector<Trace>& traces,
                    const std::function<bool(const std::string&)>& wants) {
    return std::ranges::any_of(traces, [&](const Trace& trace) {
        const auto launched = launched_in(trace);
        if (launched && std::ranges::none_of(*launched, wants)) return false;
        if (!trace.unknown_code.empty()) return true;
        const bool all_are_told = trace.lacks_ptx.empty();
        if (!launched) return all_are_told || std::ranges::any_of(trace.rewritable, wants);
        return std::ranges::any_of(*launched, [&](const std::string& kernel) {
            return wants(kernel) && (all_are_told || trace.rewritable.contains(kernel));
        });
    });
}

bool KernelSummary::has_time() const { return is_number(measured[Counter::duration_seconds]); }

double KernelSummary::total_seconds() const {
    const double others = static_cast<double>(launches.value_or(counted) -
                                              std::min(counted, launches.value_or(counted)));
    if (timed && timed->launches > 0)
        return counted_seconds + timed->total_seconds / static_cast<double>(timed->launches) *
                                     std::max(others, static_cast<double>(timed->launches));
    return counted_seconds + number_or(measured[Counter::duration_seconds], 0) * others;
}

std::vector<KernelSummary> summarize(const std::vector<Trace>& traces) {
    std::map<TracedKernel, KernelSummary> kernels;
    std::map<TracedKernel, Samples> samples;
    for (const Trace& trace : traces) {
        for (const CountedLaunch& launch : trace.counted) {
            KernelSummary& summary = kernels[launch.kernel];
            ++summary.counted;
            summary.counted_seconds += number_or(launch.measured[Counter::duration_seconds], 0);
            launch.measured.each([&](Counter counter, const Reading& reading) {
                if (!info(counter).parts) samples[launch.kernel][counter].push_back(reading);
            });
        }
        if (trace.launches)
            for (const auto& [kernel, count] : *trace.launches)
                kernels[kernel].launches = kernels[kernel].launches.value_or(0) + count;
    }
    // CUPTI also records kernels that it launches itself.
    for (const Trace& trace : traces)
        for (const auto& [kernel, times] : trace.timed)
            if (const auto found = kernels.find(kernel); found != kernels.end())
                add_times(found->second, times);
    std::vector<KernelSummary> all;
    for (auto& [kernel, summary] : kernels) {
        summary.kernel = kernel;
        for (auto& [counter, readings] : samples[kernel]) {
            if (counter == Counter::load_sectors || counter == Counter::store_sectors)
                summary.sectors_vary = summary.sectors_vary || vary(readings);
            summary.measured[counter] = median_of(std::move(readings));
        }
        // Where counters may not be read, nothing is counted, and all launches are timed.
        if (summary.timed && summary.counted == 0)
            summary.measured[Counter::duration_seconds] = summary.timed->median_seconds;
        derive_ratios(summary.measured);
        all.push_back(std::move(summary));
    }
    std::ranges::sort(all, [](const KernelSummary& a, const KernelSummary& b) {
        const double a_seconds = a.total_seconds();
        const double b_seconds = b.total_seconds();
        if (a_seconds != b_seconds) return a_seconds > b_seconds;
        return sectors_of(a) > sectors_of(b);
    });
    return all;
}

void add_use(std::vector<KernelSummary>& kernels, const std::vector<KernelSummary>& patched) {
    for (KernelSummary& summary : kernels) {
        const auto same = std::ranges::find(patched, summary.kernel, &KernelSummary::kernel);
        if (same == patched.end()) continue;
        for (const Counter counter : {Counter::load_unique_bytes, Counter::load_bytes_per_sector,
                                      Counter::load_efficiency, Counter::store_unique_bytes,
                                      Counter::store_bytes_per_sector, Counter::store_efficiency})
            summary.measured[counter] = same->measured[counter];
    }
}

}  // namespace coalprof
