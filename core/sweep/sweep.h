// A sweep: the values of a pattern's parameter and of the settings that take lists, as one point
// for each combination.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/launch_options.h"
#include "core/sweep/patterns.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// The unit of plain numbers of a parameter, where that is not the pattern's.
enum class ValueUnit : std::uint8_t { of_parameter, elements, bytes };

// The sweep that the user asked for; `values` and `machines` hold at least one entry.
struct Sweep {
    std::string pattern;
    std::vector<std::uint64_t> values;
    ValueUnit values_unit = ValueUnit::of_parameter;
    ChosenLaunch launch;
    // Options of several values, which replace those of `launch`.
    std::vector<Axis> axes;         // what the launch and the pattern vary
    std::vector<Axis> memory_axes;  // settings of memory: their costs are compared
    std::vector<Machine> machines;
    // The pitch in bytes of rows of `row_bytes` on the device present; none: the usual one.
    std::function<std::uint64_t(std::uint64_t row_bytes)> auto_pitch;
};

// One option as typed. Throws UsageError.
void take_option(Sweep& sweep, std::string_view key, const std::string& text);
// The values of the pattern's parameter: numbers are in the pattern's unit, sizes are bytes. An
// empty text means its default range. After the types. Throws UsageError naming `option`.
void set_values(Sweep& sweep, const PatternInfo& pattern, const std::string& text,
                const std::string& option);

// The parameter varies fastest, then the axes, then settings and machines.
class SweepPoints : public SweptPoints {
 public:
    // Throws UsageError for more than most_range_points points, which are counted and not expanded,
    // and for an unknown pattern.
    explicit SweepPoints(Sweep sweep);
    std::uint64_t count() const override;
    bool compares_settings() const override { return !sweep_.memory_axes.empty(); }
    void make(PlannedPoint& point) const override;

 private:
    Sweep sweep_;
    const PatternInfo& pattern_;
    std::uint64_t launches_ = 0;  // combinations of the parameter and the axes
};

// The head's description of the sweep: pattern, parameter, op, type, sizes and single settings.
SweepFacts describe_sweep(const Sweep& sweep);

// The settings of a sweep that take lists, and names of points by the varying values: shared by
// sweeps of patterns and of formulas.

// The number of machines times that of combinations of settings.
std::uint64_t count_of_settings(const Sweep& sweep);
// True if a grid decides the size, and it or a factor of the size is swept: then each point states
// its size.
bool size_follows_axes(const Sweep& sweep);
// True if points differ in their grids.
bool grid_varies(const Sweep& sweep);

// For swept variants with and without a tile, and a given tile: one axis of both, in which a
// variant without a tile has a null tile and one point instead of one for each tile.
void join_variants_with_tiles(Sweep& sweep);

// Completes a point whose plan has its program and whose parameters are those of the program: the
// plan gets the settings of this number, the point its machine and names. `launch` made the
// program. Throws UsageError where the settings do not fit it.
void finish_point(PlannedPoint& point, const Sweep& sweep, ChosenLaunch launch,
                  std::uint64_t setting);

// Throws UsageError where `values` of the parameter times the settings are more than
// most_range_points.
void require_reasonable_count(const Sweep& sweep, std::uint64_t values);

// Throws UsageError for a launch of which the model would have to walk too many warps
// (core/pattern/walk_limit.h).
void require_walkable(const Plan& plan);

// The settings that take one value, for the description of the sweep.
NamedValues single_settings(const Sweep& sweep);

// True if points use this name otherwise, so that no variable of a formula can have it.
bool is_taken_name(std::string_view name);

}  // namespace coalprof
