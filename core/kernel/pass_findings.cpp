#include "core/kernel/pass_findings.h"

#include <fmt/format.h>

#include <algorithm>
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

// The distance of the rows that one of the warps reads.
std::optional<std::uint64_t> distance_of_rows(const std::vector<WarpAccess>& warps) {
    for (const WarpAccess& warp : warps)
        if (const auto rows = shape_of(warp).rows; rows && rows->row_bytes % line_bytes == 0)
            return rows->row_bytes;
    return std::nullopt;
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
        const auto distance = distance_of_rows(result.warps[i]);
        if (!distance) continue;
        result.findings.push_back(
            {.point = point.name,
             .cause = std::string(name_of(Cause::bank_conflict)),
             .text = fmt::format("A warp reads rows {} bytes apart, whose words lie in the same "
                                 "banks of L1: {:.3g} passes a request where {:.3g} would do.",
                                 *distance, passes->taken, passes->needed),
             .fix = "Let the lanes of a warp read one row (a wider block), or pad rows so that "
                    "their distance is no multiple of 128 bytes.",
             .like = {}});
    }
}

}  // namespace coalprof
