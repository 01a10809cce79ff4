// Why one launch takes less time than another, from their numbers: what limits each, and the
// counters of the slower one's limit that differ most.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/result/result.h"

namespace coalprof {

// The traffic of a launch, as best_reason.cpp lists it.
struct LaunchTraffic {
    std::optional<Limit> limit;  // what limits its time; nothing if not estimated
    std::array<double, 13> amounts{};
};
LaunchTraffic traffic_of_launch(const Point& point);

// How many of 100 pairs of launches whose predicted times have this ratio are measured in their
// order. Empty: too few to speak of an order.
std::string_view share_in_order(double ratio);

// A sentence without its full stop; empty: the limits are not known.
std::string best_reason(std::string_view best_name, const LaunchTraffic& best,
                        std::string_view other_name, const LaunchTraffic& other);

}  // namespace coalprof
