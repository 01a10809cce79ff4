// The settings of a sweep that take lists, and how points are named after what varies: shared by
// sweeps of patterns and of formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/run/sweep.h"

namespace coalprof {

// One combination of the settings that take lists.
struct SweptSettings {
    CachePolicy cache;
    Allocation allocation = Allocation::device;
    LoadPath path = LoadPath::ld;
};

// Calls visit for every machine and combination of settings.
void each_setting(const Sweep& sweep,
                  const std::function<void(const Machine&, const SweptSettings&)>& visit);

// Gives the plan of the point these settings and, once its program is made, its names: the
// parameters that it has so far, the machine and the settings where there are several. Throws
// UsageError where they do not fit the program.
void finish_point(PlannedPoint& point, const Sweep& sweep, const Machine& machine,
                  const SweptSettings& settings);

// Throws UsageError when `values` of the parameter times the settings are more than
// most_range_points.
void require_reasonable_count(const Sweep& sweep, std::uint64_t values);

// Throws UsageError for a launch of which the model would have to walk so many warps that it took
// longer than anybody waits (core/model/walk_limit.h).
void require_walkable(const Plan& plan);

// The settings that take one value, for the description of the sweep.
void add_single_settings(NamedValues& values, const Sweep& sweep);

}  // namespace coalprof
