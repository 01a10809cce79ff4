#include "core/program/traced_lines.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
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

}  // namespace coalprof
