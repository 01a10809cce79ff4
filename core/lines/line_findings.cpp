#include "core/lines/line_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/access/warps_file.h"
#include "core/count/shared_memory.h"
#include "core/explain/explanation.h"
#include "core/text/error.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

// Smaller shares are not reported.
constexpr double least_wasted_share = 0.1;

// Measured savings divided by stated ones: for six faults in docs/examples, each compared with its
// remedy, 0.53 to 1.06, and 0.77 to 1.27 where the clock is lower than the highest, by which passes
// are priced (H100 and H200, docs/measurements/h200/run). No other faults were compared.
constexpr double least_saved = 0.5;
constexpr double most_saved = 1.3;

// `seconds`: time of the wasted share at constant rates; more than the kernel takes cannot be
// saved.
void set_saving(LineFinding& finding, std::optional<double> seconds) {
    finding.saves_seconds = seconds;
    if (!seconds) return;
    if (finding.kernel_seconds) seconds = std::min(*seconds, *finding.kernel_seconds);
    finding.saves_seconds = seconds;
    // The additional sectors of a misaligned warp are its neighbours', so that caches have them.
    const double least = finding.cause == name_of(Cause::misaligned) ? 0 : least_saved;
    const double most = most_saved * *seconds;
    finding.saves_interval_seconds = {least * *seconds,
                                      std::min(most, finding.kernel_seconds.value_or(most))};
}

LineFinding finding_at(const LineReport& report, const std::string& point) {
    LineFinding finding{.point = point, .cause = {}, .text = {}, .fix = {}, .like = {}};
    finding.kernel = short_kernel_name(report.line.site.function);
    finding.kernel_seconds = report.kernel.seconds;
    finding.launches = report.kernel.launches;
    return finding;
}

// The example warp of the line: of those that waste, one of average cost, and among equals one of
// the shape that wastes most in total. None where no kept warp wastes.
const WarpAccess* example_of(const LineSummary& line, const Machine& machine) {
    struct Group {
        std::uint64_t waste = 0;
        double beside_average = 0;
        std::uint64_t warps = 0;
        const WarpAccess* first = nullptr;
    };
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, Group> groups;
    for (const WarpAccess& warp : line.samples) {
        std::uint64_t took = 0;
        std::uint64_t needed = 0;
        if (warp.space == Space::shared) {
            const SharedCounts counts = SharedMemory(*machine.rules).count(warp);
            took = counts.wavefronts;
            needed = counts.ideal_wavefronts;
        } else {
            const WarpShape shape = shape_of(warp);
            took = shape.sectors;
            needed = shape.sectors_needed();
        }
        Group& group = groups[{took, needed, warp.active_lanes}];
        const bool is_shared = warp.space == Space::shared;
        const auto all = static_cast<double>(is_shared ? line.totals.passes : line.totals.sectors);
        group.beside_average =
            std::abs(static_cast<double>(took) - all / static_cast<double>(line.totals.executed));
        group.waste += took - std::min(took, needed);
        ++group.warps;
        if (!group.first) group.first = &warp;
    }
    std::erase_if(groups, [](const auto& entry) { return entry.second.waste == 0; });
    const auto nearest = std::ranges::max_element(groups, {}, [](const auto& entry) {
        return std::tuple(-entry.second.beside_average, entry.second.waste, entry.second.warps);
    });
    return nearest == groups.end() ? nullptr : nearest->second.first;
}

// The distance between most stretches, if no common shift aligns them; 0 where it does not explain
// all.
std::uint64_t pitch_of(const std::set<std::uint64_t>& starts, std::uint64_t least_bytes) {
    std::map<std::uint64_t, std::size_t> distances;
    for (const std::uint64_t one : starts)
        for (const std::uint64_t other : starts)
            if (other > one && other - one >= least_bytes && (other - one) % sector_bytes != 0)
                ++distances[other - one];
    const auto most = std::ranges::max_element(
        distances, {}, [](const auto& entry) { return std::pair(entry.second, ~entry.first); });
    if (most == distances.end() || 2 * most->second < starts.size()) return 0;
    const std::uint64_t pitch = most->first;
    const bool fits = std::ranges::all_of(starts, [&](std::uint64_t one) {
        const std::uint64_t into = (one - *starts.begin()) % pitch;
        return into % sector_bytes == 0 || (pitch - into) % sector_bytes == 0;
    });
    return fits ? pitch : 0;
}

// For warps that begin at different places in their sectors. None: a shift aligns them all.
std::optional<std::string> mend_of_rows(const LineSummary& line) {
    std::set<std::uint64_t> starts, places;
    for (const WarpAccess& warp : line.samples) {
        const WarpShape shape = shape_of(warp);
        if (shape.runs != 1 || shape.active_lanes < 2) continue;
        starts.insert(shape.first_byte);
        places.insert(place_in_sector(warp));
    }
    if (places.size() < 2) return std::nullopt;
    const std::uint64_t width = std::max(1u, line.site.width_bytes);
    const std::uint64_t pitch = pitch_of(starts, warp_lanes * width);
    if (pitch == 0)
        return fmt::format(
            "Warps begin at different places in their sectors, so no shift aligns all of them: pad "
            "rows to a multiple of 32 bytes ({} elements), and let the first begin at one.",
            std::max<std::uint64_t>(1, sector_bytes / width));
    const std::uint64_t wider = (pitch + sector_bytes - 1) / sector_bytes * sector_bytes;
    return fmt::format(
        "Rows lie {} bytes apart, so no shift aligns all of them: let them lie {} bytes apart ({} "
        "elements), and each begin at a multiple of 32 bytes.",
        pitch, wider, wider / width);
}

// A line of a warps file that does not depend on the program's base addresses.
std::string line_of_warp(const std::string& point, WarpAccess warp) {
    std::uint64_t lowest = ~std::uint64_t{0};
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if ((warp.active_lanes >> lane & 1) != 0) lowest = std::min(lowest, warp.addresses[lane]);
    for (std::uint64_t& address : warp.addresses) address -= lowest / line_bytes * line_bytes;
    const std::string line = warps_file_line(point, warp).value_or("");
    return line.substr(0, line.find('\n'));
}

// As explain takes it. Empty where no pattern is similar.
std::string pattern_like(const WarpShape& shape, Space space) {
    if (shape.active_lanes < 2 || shape.width_bytes == 0 || shape.width_bytes > 16) return {};
    const std::string_view type = shape.width_bytes == 1   ? "u8"
                                  : shape.width_bytes == 2 ? "u16"
                                  : shape.width_bytes == 4 ? "f32"
                                  : shape.width_bytes == 8 ? "f64"
                                                           : "f32x4";
    const std::uint64_t elements = shape.distance_bytes.value_or(0) / shape.width_bytes;
    const bool keeps_distance =
        shape.distance_bytes && *shape.distance_bytes % shape.width_bytes == 0;
    if (space == Space::shared)
        return shape.lanes_keep_distance && keeps_distance
                   ? fmt::format("shared-stride --at {} --type {}", elements, type)
                   : std::string();
    if (shape.runs == 1 && shape.misaligned_bytes() % shape.width_bytes == 0)
        return fmt::format("offset --at {} --type {}", shape.misaligned_bytes() / shape.width_bytes,
                           type);
    if (shape.lanes_keep_distance && keeps_distance)
        return fmt::format("stride --at {} --type {}", elements, type);
    return {};
}

// The resources that instructions used together, and those that they needed.
struct Spent {
    double took = 0;
    double needed = 0;
    std::size_t places_that_waste = 0;
    std::size_t worst_place = 0;  // its index among all reports
    double wasted_there = 0;
    void add(std::size_t place, double all, double wasted) {
        took += all;
        needed += all - wasted;
        if (wasted > 0) ++places_that_waste;
        if (wasted <= wasted_there) return;
        worst_place = place;
        wasted_there = wasted;
    }
    double wasted_share() const { return took > 0 ? 1 - needed / took : 0; }
};

// The resources that the machine code of a kernel uses.
struct KernelSpends {
    Spent sectors;
    Spent passes;                              // passes of shared memory
    std::optional<double> saves_seconds = {};  // saving through fewer sectors
};

KernelSpends spent_by(const std::vector<LineReport>& reports, const std::string& function) {
    KernelSpends kernel;
    for (std::size_t place = 0; place < reports.size(); ++place) {
        const LineReport& report = reports[place];
        const LineSummary& line = report.line;
        if (line.site.function != function || !line.is_machine_code()) continue;
        kernel.sectors.add(place, static_cast<double>(line.totals.sectors),
                           static_cast<double>(line.wasted_sectors()));
        for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
            const SharedCounters keys = shared_counters(kind);
            const Reading& all = report.measured[keys.wavefronts];
            const Reading& conflicts = report.measured[*keys.conflicts];
            if (!is_number(all) || !is_number(conflicts)) continue;
            kernel.passes.add(place, number_in(all), number_in(conflicts));
        }
        if (line.site.space == Space::global && report.saves_seconds)
            kernel.saves_seconds = kernel.saves_seconds.value_or(0) + *report.saves_seconds;
    }
    return kernel;
}

// `sentence`: the used and the needed amounts, and the percentage between.
std::string waste_text(const char* sentence, const Spent& spent) {
    const double wasted = spent.took - spent.needed;
    return fmt::format(fmt::runtime(sentence), spent.took, spent.needed,
                       100 * spent.wasted_share()) +
           (spent.places_that_waste > 1
                ? fmt::format(" Of this, {:.0f} % is at this place, the worst of {}.",
                              100 * spent.wasted_there / wasted, spent.places_that_waste)
                : std::string(" All of it is at this place."));
}

// The saving is that of all places that waste.
std::string mend_text(const Spent& spent, const char* sentence) {
    return spent.places_that_waste > 1
               ? fmt::format("In each of the {} places, let {}", spent.places_that_waste, sentence)
               : fmt::format("Let {}", sentence);
}

// Code without source lines may be the user's or a library's.
const char* mend_of_sectors(const SourceLine& place) {
    const bool is_own = !place.file.empty() && !is_of_toolkit(place);
    return is_own
               ? "neighbouring lanes take neighbouring elements, or move tiles row by row and "
                 "turn them in shared memory."
               : "neighbouring lanes take neighbouring elements; a library's kernel may be given "
                 "data in the order in which it takes them.";
}

// The finding of one line, and the cause by which lines of a kernel are grouped.
struct Caused {
    std::tuple<std::string, Space, std::string, std::string> cause;
    LineFinding finding;
};

// Lanes that each walk through their own part of an array, as rows of a sparse matrix.
void mend_of_walks(const LineSummary& line, LineFinding& finding) {
    finding.text =
        "Each lane walks through a stretch of its own, so a warp reaches as many places as it has "
        "lanes.";
    const double idle = warp_lanes - static_cast<double>(line.totals.lanes) /
                                         static_cast<double>(line.totals.executed);
    if (idle >= 4)
        finding.text += fmt::format(
            " Stretches end at different times: {:.0f} of 32 lanes are idle on average.", idle);
    finding.fix =
        "Let the lanes of a warp take neighbouring elements of one stretch (of a sparse matrix: a "
        "warp for each row), or store the elements so that those of neighbouring lanes lie side by "
        "side.";
}

std::optional<Caused> cause_of(const LineReport& report, const std::string& point,
                               const Machine& machine) {
    if (report.wasted_share < least_wasted_share) return std::nullopt;
    const WarpAccess* warp = example_of(report.line, machine);
    if (!warp) return std::nullopt;
    try {
        const Explanation explained = explanation_of(point, *warp, machine);
        const Reasons& reasons = explained.accesses.front().reasons;
        const PtxSite& site = report.line.site;
        LineFinding finding = finding_at(report, point);
        finding.cause = name_of(reasons.cause);
        finding.text = reasons.why;
        finding.fix = reasons.mend;
        if (reasons.cause == Cause::misaligned)
            if (auto mend = mend_of_rows(report.line)) finding.fix = std::move(*mend);
        finding.like = pattern_like(explained.accesses.front().shape, site.space);
        finding.warp = line_of_warp(point, *warp);
        finding.saves_seconds = report.saves_seconds;
        const bool walks = reasons.cause == Cause::scattered &&
                           3 * report.line.walks >= report.line.totals.executed;
        if (walks) mend_of_walks(report.line, finding);
        // All distances of misalignment are one cause.
        const bool has_distance = reasons.cause != Cause::misaligned;
        std::string told_apart = walks ? "walks" : has_distance ? finding.like : std::string();
        return Caused{{site.function, site.space, finding.cause, std::move(told_apart)}, finding};
    } catch (const UsageError&) {
        return std::nullopt;  // no explanation for this memory on this machine
    }
}

void add_line(std::vector<Caused>& all, Caused line) {
    const auto known = std::ranges::find(all, line.cause, &Caused::cause);
    if (known == all.end()) {
        all.push_back(std::move(line));
        return;
    }
    LineFinding& finding = known->finding;
    finding.others.push_back(line.finding.point);
    if (line.finding.saves_seconds)
        finding.saves_seconds = finding.saves_seconds.value_or(0) + *line.finding.saves_seconds;
}

// For all machine code of a function: no warps of its instructions are kept. It is reported at the
// one that wastes most.
std::optional<LineFinding> finding_of_machine_code(const std::vector<LineReport>& reports,
                                                   const std::string& function,
                                                   const std::vector<std::string>& points) {
    const KernelSpends kernel = spent_by(reports, function);
    const Spent& sectors = kernel.sectors;
    const Spent& passes = kernel.passes;
    if (sectors.wasted_share() >= least_wasted_share) {
        const LineReport& worst = reports[sectors.worst_place];
        LineFinding finding = finding_at(worst, points.at(sectors.worst_place));
        finding.cause = wasted_sectors;
        finding.text = waste_text(
            "The kernel's instructions ask for {:.0f} sectors where {:.0f} could hold as much: "
            "{:.0f} % are waste.",
            sectors);
        finding.fix = mend_text(sectors, mend_of_sectors(worst.line.place()));
        set_saving(finding, kernel.saves_seconds);
        return finding;
    }
    if (passes.wasted_share() < least_wasted_share) return std::nullopt;
    LineFinding finding = finding_at(reports[passes.worst_place], points.at(passes.worst_place));
    finding.cause = name_of(Cause::bank_conflict);
    finding.text = waste_text(
        "The kernel's instructions take {:.0f} passes of shared memory where {:.0f} would do: "
        "{:.0f} % are conflicts of banks.",
        passes);
    finding.fix = mend_text(
        passes,
        "lanes of a warp take words of different banks, as by a word of padding to each row.");
    return finding;
}

}  // namespace

std::uint64_t place_in_sector(const WarpAccess& warp) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(warp.active_lanes)) % warp_lanes;
    const auto last = (31 - static_cast<std::uint32_t>(std::countl_zero(warp.active_lanes))) & 31;
    const std::uint64_t low = warp.addresses[first];
    const bool ascends =
        warp.addresses[last] - low == std::uint64_t{last - first} * warp.width_bytes;
    return (ascends ? low - first * std::uint64_t{warp.width_bytes} : shape_of(warp).first_byte) %
           sector_bytes;
}

void sort_by_saving(std::vector<LineFinding>& findings) {
    const auto saves = [](const LineFinding& one) { return one.saves_seconds.value_or(0); };
    std::vector<LineFinding> sorted;
    for (LineFinding& one : findings)
        sorted.insert(std::ranges::upper_bound(sorted, saves(one), std::ranges::greater(), saves),
                      std::move(one));
    findings = std::move(sorted);
}

std::vector<LineFinding> findings_of(const std::vector<LineReport>& reports,
                                     const std::vector<std::string>& points,
                                     const Machine& machine) {
    std::vector<Caused> causes;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const LineSummary& line = reports[i].line;
        if (!line.is_machine_code()) {
            if (auto cause = cause_of(reports[i], points.at(i), machine))
                add_line(causes, std::move(*cause));
        } else if (seen.insert(line.site.function).second) {
            if (auto finding = finding_of_machine_code(reports, line.site.function, points))
                causes.push_back({{line.site.function, {}, {}, {}}, std::move(*finding)});
        }
    }
    std::vector<LineFinding> findings;
    for (Caused& one : causes) {
        set_saving(one.finding, one.finding.saves_seconds);
        findings.push_back(std::move(one.finding));
    }
    sort_by_saving(findings);
    return findings;
}

}  // namespace coalprof
