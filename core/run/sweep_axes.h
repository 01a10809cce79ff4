// The settings of a sweep that take lists, and how points are named after what varies: shared by
// sweeps of patterns and of formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/run/sweep.h"

namespace coalprof {

// Calls visit for every machine and combination of cache settings.
void each_setting(const Sweep& sweep,
                  const std::function<void(const Machine&, const CachePolicy&)>& visit);

// Throws UsageError when `values` of the parameter times the settings are more than
// most_range_points.
void require_reasonable_count(const Sweep& sweep, std::uint64_t values);

// Throws UsageError for a launch of which the model would have to walk so many warps that it took
// longer than anybody waits (core/model/walk_limit.h).
void require_walkable(const Plan& plan);

// The settings that take several values, as parameters of a point; those that take one, for the
// description of the sweep.
void add_settings(NamedValues& parameters, const Sweep& sweep, const Machine& machine,
                  const CachePolicy& cache);
void add_single_settings(NamedValues& values, const Sweep& sweep);

// "offset=11 dlcm=cg"
std::string name_of_point(const NamedValues& parameters);

}  // namespace coalprof
