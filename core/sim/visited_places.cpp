#include "core/sim/visited_places.h"

#include <bit>

namespace coalprof {
namespace {

// A block visits some megabytes; later places count as new.
constexpr std::size_t most_visits = 8192;

bool covers(const WarpAccess& before, const WarpAccess& access) {
    bool all = (access.active_lanes & ~before.active_lanes) == 0 &&
               before.width_bytes == access.width_bytes;
    for (std::uint32_t lane = 0; all && lane < warp_lanes; ++lane)
        all = (access.active_lanes >> lane & 1) == 0 ||
              access.addresses[lane] == before.addresses[lane];
    return all;
}

}  // namespace

void VisitedPlaces::resume(std::uint32_t warp) {
    warp_ = warp;
    ++stretch_;
}

void VisitedPlaces::clear() {
    if (visits_.empty()) return;
    visits_.clear();
    last_ = 0;
    places_ = {};
}

// The last visit is tried, too: in loops of different lengths the first lane may leave first.
VisitedPlaces::Visit* VisitedPlaces::find(const WarpAccess& access, std::uint64_t key) {
    if (const std::uint32_t* const known = places_.find(key);
        known && covers(visits_[*known].access, access))
        last_ = *known;
    else if (last_ >= visits_.size() || visits_[last_].warp != warp_ ||
             !covers(visits_[last_].access, access))
        return nullptr;
    return &visits_[last_];
}

VisitedPlaces::Before VisitedPlaces::visit(const WarpAccess& access) {
    if (access.active_lanes == 0) return Before::never;
    const auto first = static_cast<std::size_t>(std::countr_zero(access.active_lanes));
    const std::uint64_t key = access.addresses[first] << 6 | warp_;
    if (Visit* const known = find(access, key)) {
        const bool is_recent = known->stretch == stretch_;
        known->stretch = stretch_;
        return is_recent ? Before::since_barrier : Before::before_barrier;
    }
    if (visits_.size() == most_visits) return Before::never;
    last_ = visits_.size();
    visits_.push_back({access, warp_, stretch_});
    const auto at = static_cast<std::uint32_t>(last_);
    if (std::uint32_t* const other = places_.find(key))
        *other = at;
    else
        places_.insert(key, at);
    return Before::never;
}

}  // namespace coalprof
