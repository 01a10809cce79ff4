// The settings of a sweep that take lists, and how points are named after what varies: shared by
// sweeps of patterns and of formulas.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/sweep/sweep.h"

namespace coalprof {

// Every machine with every combination of the settings.
std::uint64_t count_of_settings(const Sweep& sweep);
// Whether a grid decides the size, and it or what it is multiplied with is swept: then each point
// says its own.
bool size_follows_axes(const Sweep& sweep);
// Whether points differ in their grids.
bool grid_varies(const Sweep& sweep);

// Where variants with a tile and one without are swept and a tile is given: one axis of both, in
// which the tile of the latter is null and its point stands once, not once for each tile.
void join_variants_with_tiles(Sweep& sweep);

// Completes a point whose plan has its program and whose parameters are those of the program: the
// plan gets the settings of this number, the point its machine and names. `launch` made the
// program. Throws UsageError where the settings do not fit it.
void finish_point(PlannedPoint& point, const Sweep& sweep, ChosenLaunch launch,
                  std::uint64_t setting);

// Where several GPUs measure, the last of the point's parameters is its own.
void add_device(PlannedPoint& point, const Sweep& sweep);

// Throws UsageError where `values` of the parameter times the settings are more than
// most_range_points.
void require_reasonable_count(const Sweep& sweep, std::uint64_t values);

// Throws UsageError for a launch of which the model would have to walk so many warps that it took
// longer than anybody waits (core/pattern/walk_limit.h).
void require_walkable(const Plan& plan);

// The settings that take one value, for the description of the sweep.
NamedValues single_settings(const Sweep& sweep);

// Whether points have something else of this name, so that no variable of a formula can have it.
bool is_taken_name(std::string_view name);

}  // namespace coalprof
