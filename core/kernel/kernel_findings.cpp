#include "core/kernel/kernel_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "core/explain/explanation.h"
#include "core/lines/line_findings.h"
#include "core/runtime/work_limits.h"
#include "core/sim/mended_time.h"

namespace coalprof {
namespace {

constexpr std::string_view repeated_store = "repeated_store";

// Measured savings divided by predicted ones, for ten faults and their remedies in two sizes on an
// H100 and five of docs/examples on an H200 (docs/measurements/h100/savings): 0.86 to 1.4, but
// where little was saved. In addition, the simulation has noise of a tenth of the kernel's time.
constexpr double least_saved = 0.5;
constexpr double most_saved = 1.3;
constexpr double noise = 0.1;
// Smaller gains are not reported.
constexpr double least_gain = 0.03;
// Remedies that were predicted to gain nothing, as latency would limit the rest, saved 0.4.
constexpr double most_of_latency = 0.5;

// As a share of the kernel's passes; fewer are not worth a fix.
constexpr double least_waste = 0.05;

bool has_finding(const KernelResult& result, const std::string& point) {
    return std::ranges::any_of(result.findings, [&](const LineFinding& one) {
        return one.point == point || std::ranges::find(one.others, point) != one.others.end();
    });
}

struct PassesOfRequest {
    double taken = 0;
    double needed = 1;
};
std::optional<PassesOfRequest> passes_of(const Point& point) {
    const double requests = number_or(point.predicted[Counter::load_requests], 0);
    const double bytes = number_or(point.predicted[Counter::load_unique_bytes], 0);
    if (requests == 0) return std::nullopt;
    return PassesOfRequest{number_or(point.predicted[Counter::load_data_wavefronts], 0) / requests,
                           std::max(1.0, bytes / requests / static_cast<double>(line_bytes))};
}

// Other threads may load in between what an atomic or a fence makes visible, or a volatile store.
bool is_shared_with_others(const CodeStatement& statement) {
    return std::ranges::any_of(
        std::array{"atom", "red.", "membar", "fence", "volatile", "relaxed", "release", "mmio"},
        [&](const char* one) { return statement.text.find(one) != std::string::npos; });
}

// The padding that puts rows which the warps read together in different banks.
std::optional<SiteMend> padding_of(const std::vector<WarpAccess>& warps) {
    for (const WarpAccess& warp : warps)
        // Rows 0 bytes apart: groups of lanes that load the same words.
        if (const auto rows = shape_of(warp).rows;
            rows && rows->row_bytes > 0 && rows->row_bytes % line_bytes == 0) {
            // Sectors stay whole as long as the rows have room for it.
            const std::uint64_t pad = std::min(sector_bytes, line_bytes * rows->lanes / warp_lanes);
            return SiteMend{SiteMend::Kind::padded, rows->row_bytes,
                            std::max<std::uint64_t>(pad, warp.width_bytes)};
        }
    return std::nullopt;
}

class FindingPrices {
 public:
    FindingPrices(const KernelResult& result, const PricedLaunch& priced,
                  const std::vector<SiteCounts>& counts, double scale)
        : result_(result), priced_(priced), counts_(counts) {
        for (const SiteCounts& one : counts)
            needed_bytes_.push_back(static_cast<double>(one.global.unique_bytes) * scale);
    }

    void price(LineFinding& finding) const {
        std::vector<std::uint32_t> sites = sites_of(finding);
        if (finding.cause == name_of(Cause::misaligned)) {
            std::erase_if(sites, [&](std::uint32_t one) {
                return has_neighbours(one, sites) && !has_uneven_rows(one);
            });
            if (sites.empty()) return say_neighbours(finding);
        }
        const bool is_simulated = !sites.empty() && std::ranges::none_of(sites, [&](auto site) {
            return counts_[site].space == Space::local;
        });
        if (!is_simulated) return;
        const double seconds = priced_.simulated.time.seconds;
        const SimulatedTime mended =
            mended_time(priced_.code, priced_.launch, priced_.memory, priced_.machine,
                        priced_.simulated, needed_bytes_, mends_of(finding, sites));
        const double saved = seconds - mended.seconds;
        finding.kernel_seconds = seconds;
        if (const double hits = l1_hits(sites); hits >= 0.5)
            finding.text += fmt::format(
                " {:.0f} % of these sectors are L1 hits: they cost L1 bandwidth, not L2 traffic.",
                100 * hits);
        if (say_collecting(finding, sites, saved)) return;
        if (saved >= least_gain * seconds) return say_saving(finding, saved);
        say_useless(finding, mended.limits.front());
    }

 private:
    SiteMends mends_of(const LineFinding& finding, const std::vector<std::uint32_t>& sites) const {
        SiteMends mends(priced_.code.sites.size());
        SiteMend mend{SiteMend::Kind::adjacent};
        if (finding.cause == repeated_store)
            mend.kind = SiteMend::Kind::in_register;
        else if (finding.cause == name_of(Cause::bank_conflict) &&
                 counts_[sites.front()].space == Space::global)
            for (std::size_t i = 1; i < result_.points.size(); ++i)
                if (result_.points[i].name == finding.point)
                    mend = padding_of(result_.warps[i]).value_or(mend);
        // The whole array has other rows, or values that registers hold.
        const std::string& array = priced_.code.sites[sites.front()].array;
        for (std::uint32_t i = 0; i < mends.size(); ++i)
            if (std::ranges::find(sites, i) != sites.end() ||
                (mend.kind != SiteMend::Kind::adjacent && !array.empty() &&
                 priced_.code.sites[i].array == array && counts_[i].space == Space::global))
                mends[i] = mend;
        return mends;
    }
    // The offsets in their sectors at which warps of the site begin.
    std::set<std::uint64_t> places_of(std::uint32_t site) const {
        std::set<std::uint64_t> places;
        for (const SampledWarp& one : counts_[site].samples)
            places.insert(place_in_sector(one.access));
        return places;
    }
    // True for rows that padding would let begin at multiples of 32 bytes.
    bool has_uneven_rows(std::uint32_t site) const {
        const std::set<std::uint64_t> places = places_of(site);
        return places.size() > 1 && places.contains(0);
    }
    // a[i-1] beside a[i]: aligning one of them moves the other.
    bool has_neighbours(std::uint32_t site, const std::vector<std::uint32_t>& sites) const {
        const PtxSite& own = priced_.code.sites[site];
        return std::ranges::any_of(sites, [&](std::uint32_t one) {
            return !own.array.empty() && priced_.code.sites[one].array == own.array &&
                   places_of(one) != places_of(site);
        });
    }
    void say_saving(LineFinding& finding, double saved) const {
        const double seconds = priced_.simulated.time.seconds;
        const Interval* whole = result_.points.front().estimates->of(Counter::duration_seconds);
        finding.saves_seconds = saved;
        // The kernel may take longer than predicted, but no more is saved than is shown of it.
        finding.saves_interval_seconds = {
            least_saved * saved * whole->low / seconds,
            std::min(most_saved * saved * whole->high / seconds + noise * seconds, seconds)};
    }
    // Where blocks add to the same words again and again, fewer additions help more than fewer
    // sectors, which save so many seconds.
    bool say_collecting(LineFinding& finding, const std::vector<std::uint32_t>& sites,
                        double by_fewer_sectors) const {
        if (std::ranges::any_of(sites, [&](std::uint32_t site) {
                return priced_.code.sites[site].kind != AccessKind::reduce ||
                       counts_[site].space != Space::global;
            }))
            return false;
        const double seconds = priced_.simulated.time.seconds;
        const double saved =
            seconds - collected_time(priced_.machine, priced_.simulated, sites).seconds;
        if (saved < std::max(by_fewer_sectors, 0.0) + least_gain * seconds) return false;
        finding.fix =
            "Add up in shared memory and add each block's sums to global memory once: each block "
            "updates the same words again and again.";
        say_saving(finding, saved);
        return true;
    }
    void say_nothing_saved(LineFinding& finding, double most_share) const {
        finding.kernel_seconds = priced_.simulated.time.seconds;
        finding.saves_seconds = 0;
        finding.saves_interval_seconds = {0, most_share * *finding.kernel_seconds};
    }
    void say_neighbours(LineFinding& finding) const {
        say_nothing_saved(finding, noise);
        finding.fix =
            "None: elements beside each other, as a[i-1] and a[i], cannot both begin at a multiple "
            "of 32 bytes.";
    }
    void say_useless(LineFinding& finding, Limit limit) const {
        const bool is_latency = limit == Limit::latency;
        say_nothing_saved(finding, is_latency ? most_of_latency : noise);
        if (is_latency)
            finding.fix +=
                " Alone it may gain nothing: latency would limit the kernel, so let it have more "
                "threads or more loads in flight as well.";
        else
            finding.fix = fmt::format(
                "None is needed: without this waste the kernel would take as long, limited by "
                "{}.",
                phrase_of(limit));
    }
    std::vector<std::uint32_t> sites_of(const LineFinding& finding) const {
        std::vector<std::uint32_t> sites;
        for (std::size_t i = 1; i < result_.points.size(); ++i) {
            const std::string& name = result_.points[i].name;
            if (name == finding.point || std::ranges::count(finding.others, name) != 0)
                sites.insert(sites.end(), result_.sites[i].begin(), result_.sites[i].end());
        }
        return sites;
    }
    // L1 hits among the sectors that the sites' loads ask for.
    double l1_hits(const std::vector<std::uint32_t>& sites) const {
        double all = 0, hits = 0;
        for (const std::uint32_t site : sites) {
            const double sectors = priced_.simulated.model.totals.sectors[site];
            if (priced_.code.sites[site].kind != AccessKind::load) continue;
            all += sectors;
            hits += sectors * priced_.simulated.time.l1_hits_of_site[site];
        }
        return all > 0 ? hits / all : 0;
    }

    const KernelResult& result_;
    const PricedLaunch& priced_;
    const std::vector<SiteCounts>& counts_;
    std::vector<double> needed_bytes_;  // one number for each site
};

}  // namespace

void add_pass_findings(KernelResult& result) {
    for (std::size_t i = 1; i < result.points.size(); ++i) {
        const Point& point = result.points[i];
        const auto passes = passes_of(point);
        if (!passes || has_finding(result, point.name)) continue;
        const double waste = number_or(point.predicted[Counter::cost_share], 0) *
                             (1 - passes->needed / std::max(passes->taken, passes->needed));
        if (waste < least_waste) continue;
        const auto padding = padding_of(result.warps[i]);
        if (!padding) continue;
        result.findings.push_back(
            {.point = point.name,
             .cause = std::string(name_of(Cause::bank_conflict)),
             .text = fmt::format("A warp reads rows {} bytes apart, whose words lie in the same "
                                 "banks of L1: {:.3g} passes a request where {:.3g} would do.",
                                 padding->row_bytes, passes->taken, passes->needed),
             .fix = fmt::format("Pad rows to {} bytes, so that their distance is no multiple of "
                                "128, or let the lanes of a warp read one row (a wider block).",
                                padding->row_bytes + padding->pad_bytes),
             .like = {}});
    }
}

// A line has the finding if its warps store to each place several times with no barrier in between,
// and no thread of the kernel uses atomics, fences or volatile stores.
void add_repeat_findings(KernelResult& result, const Code& code, const KernelLaunch& launch,
                         const std::vector<SiteCounts>& counts) {
    constexpr double few_rounds = 4;
    const std::uint64_t warps =
        launch.blocks() * ((launch.threads() + warp_lanes - 1) / warp_lanes);
    if (std::ranges::any_of(code.statements, is_shared_with_others)) return;
    for (std::size_t i = 1; i < result.points.size(); ++i) {
        std::uint64_t stores = 0, repeats = 0;
        for (const std::uint32_t site : result.sites[i]) {
            stores += counts[site].warps;
            repeats += counts[site].repeats;
        }
        // Another line may have stored there first.
        const double rounds =
            static_cast<double>(stores) / static_cast<double>(std::max(stores - repeats, warps));
        if (repeats == 0 || rounds < few_rounds) continue;
        result.findings.push_back(
            {.point = result.points[i].name,
             .cause = std::string(repeated_store),
             .text = fmt::format("Each round of a loop stores to the same addresses: {:.0f} stores "
                                 "to each.",
                                 rounds),
             .fix = "Accumulate in a register, and store once after the loop.",
             .like = {}});
    }
}

void price_findings(KernelResult& result, const PricedLaunch& priced,
                    const std::vector<SiteCounts>& counts, double scale) {
    const FindingPrices prices(result, priced, counts, scale);
    CountedWork priced_findings("findings priced", result.findings.size());
    for (LineFinding& one : result.findings) {
        prices.price(one);
        priced_findings.add(1);
    }
    std::erase_if(result.findings, [](const LineFinding& one) {
        return one.cause == repeated_store && one.saves_seconds == 0;
    });
    sort_by_saving(result.findings);
}

}  // namespace coalprof
