#include "core/kernel/pass_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/explain/explanation.h"

namespace coalprof {
namespace {

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

std::optional<SiteMend> padding_of(const std::vector<WarpAccess>& warps) {
    for (const WarpAccess& warp : warps)
        if (const auto rows = shape_of(warp).rows; rows && rows->row_bytes % line_bytes == 0) {
            // Sectors stay whole as long as the rows have room for it.
            const std::uint64_t pad = std::min(sector_bytes, line_bytes * rows->lanes / warp_lanes);
            return SiteMend{SiteMend::Kind::padded, rows->row_bytes,
                            std::max<std::uint64_t>(pad, warp.width_bytes)};
        }
    return std::nullopt;
}

// A line has the finding if its warps store to each place several times with no barrier in between,
// and no thread of the kernel uses atomics, fences or volatile stores.
void add_repeat_findings(KernelResult& result, const Code& code,
                         const std::vector<SiteCounts>& counts) {
    constexpr double few_rounds = 4;
    if (std::ranges::any_of(code.statements, is_shared_with_others)) return;
    for (std::size_t i = 1; i < result.points.size(); ++i) {
        std::uint64_t stores = 0, repeats = 0;
        for (const std::uint32_t site : result.sites[i]) {
            stores += counts[site].warps;
            repeats += counts[site].repeats;
        }
        const double rounds = static_cast<double>(stores) / static_cast<double>(stores - repeats);
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

}  // namespace coalprof
