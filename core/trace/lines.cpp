#include "core/trace/lines.h"

#include <map>
#include <tuple>

#include "core/result/counter.h"

namespace coalprof {
namespace {

constexpr std::size_t most_samples_of_line = 256;

}  // namespace

std::uint64_t LineSummary::wasted_sectors() const {
    return totals.sectors > totals.needed_sectors ? totals.sectors - totals.needed_sectors : 0;
}

const SourceLine& LineSummary::place() const {
    return is_of_toolkit(site.source) && !site.inlined_at.file.empty() ? site.inlined_at
                                                                       : site.source;
}

std::vector<LineSummary> summarize_lines(const std::vector<Trace>& traces) {
    using Key = std::tuple<std::string, SourceLine, SourceLine, std::string, Space, AccessKind,
                           std::uint32_t>;
    std::map<Key, LineSummary> lines;
    for (const Trace& trace : traces)
        for (const auto& [id, traced] : trace.sites) {
            const PtxSite& site = traced.site;
            LineSummary& line = lines[{site.function, site.source, site.inlined_at,
                                       site.instruction, site.space, site.kind, site.width_bytes}];
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
    Readings readings;
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

}  // namespace coalprof
