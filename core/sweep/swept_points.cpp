#include "core/sweep/swept_points.h"

#include <algorithm>
#include <set>

#include "core/count/launch_sum.h"
#include "core/runtime/parallel.h"
#include "core/runtime/signal.h"
#include "core/runtime/steps.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// Making a point takes 1 us or more: this many are worth another thread.
constexpr std::uint64_t most_points_together = 64;

}  // namespace

bool SweptPoints::next(PlannedPoint& point) {
    if (next_ == end()) return false;
    point.number = next_++;
    return true;
}

void SweptPoints::keep(const Shard& shard) {
    first_ = next_ = shard.first(count());
    end_ = shard.end(count());
}

PlannedPoint SweptPoints::at(std::uint64_t number) const {
    PlannedPoint point;
    point.number = number;
    make(point);
    return point;
}

std::uint64_t SweptPoints::warps_walked() const {
    const std::uint64_t points = end() - first_;
    if (points == 0) return 0;
    const std::set<std::uint64_t> some{first_, first_ + points / 2, end() - 1};
    double warps = 0;
    for (const std::uint64_t number : some) {
        try {
            warps += static_cast<double>(coalprof::warps_walked(at(number).plan.program));
        } catch (const UsageError&) {  // check() reports why the first point does not fit
        }
    }
    constexpr double most = 1e18;
    return static_cast<std::uint64_t>(
        std::min(most, warps / static_cast<double>(some.size()) * static_cast<double>(points)));
}

AccessSet SweptPoints::check() const {
    const Step step("points checked");
    const std::uint64_t all = count();
    const std::uint64_t together =
        std::clamp<std::uint64_t>(all / (4 * thread_count()), 1, most_points_together);
    return parallel_sum<AccessSet>(
        (all + together - 1) / together, [&](std::uint64_t part, AccessSet& accesses) {
            PlannedPoint point;
            const std::uint64_t end = std::min(all, (part + 1) * together);
            for (point.number = part * together; point.number < end; ++point.number) {
                stop_if_asked();
                make(point);
                accesses.add(accesses_of(point.plan.program));
            }
        });
}

}  // namespace coalprof
