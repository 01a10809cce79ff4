#include "core/count/l1_working_set.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/count/occupancy.h"
#include "core/count/transactions.h"
#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

using Line = std::pair<std::uint32_t, std::uint64_t>;  // array, number of the line in it

void keep_distinct(std::vector<Line>& lines) {
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
}

std::vector<Line> lines_of_warp(const Instruction& load, std::uint64_t first, std::uint32_t lanes) {
    std::array<std::uint64_t, warp_lanes> elements;
    evaluate(load.formula, first, lanes, elements.data());
    std::vector<Line> lines;
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
        if (elements[lane] != idle_lane)
            lines.emplace_back(load.array, elements[lane] * load.width_bytes / line_bytes);
    keep_distinct(lines);
    return lines;
}

}  // namespace

std::optional<L1WorkingSet> l1_working_set(const Rules& rules, const Plan& plan) {
    if (plan.path == LoadPath::tex) return std::nullopt;
    const Occupancy fits = occupancy(rules, {.block = plan.program.block});
    const std::uint64_t threads = std::min<std::uint64_t>(
        plan.program.threads, std::uint64_t{fits.active_warps} * warp_lanes);
    std::vector<Line> lines;
    std::size_t touched = 0;
    for (const Instruction& one : plan.program.instructions) {
        if (!is_global_load(one)) continue;
        for (std::uint64_t first = 0; first < threads; first += warp_lanes) {
            const auto lanes =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, threads - first));
            const std::vector<Line> more = lines_of_warp(one, first, lanes);
            touched += more.size();
            lines.insert(lines.end(), more.begin(), more.end());
        }
    }
    if (lines.empty()) return std::nullopt;
    keep_distinct(lines);
    const bool is_kept = plan.path == LoadPath::ldg ? rules.read_only == ReadOnlyPath::l1
                                                    : keeps_in_l1(rules, plan.cache.dlcm);
    return L1WorkingSet{lines.size() * line_bytes, touched > lines.size(), is_kept};
}

std::uint64_t l1_bytes(const Rules& rules, const CachePolicy& cache) {
    std::optional<std::uint32_t> shared_percent;
    if (cache.carveout) shared_percent = cache.carveout->shared_percent;
    return std::uint64_t{l1_split(rules.l1, shared_percent).l1_kib} * 1024;
}

}  // namespace coalprof
