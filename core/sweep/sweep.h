// A sweep: the values of a pattern's parameter and of the settings that take lists, as one point
// for each combination.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/catalog.h"
#include "core/pattern/launch_options.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// What plain numbers of a parameter count, where that is not what the pattern takes.
enum class ValueUnit : std::uint8_t { of_parameter, elements, bytes };

// What the user asked for; `values` and `machines` hold at least one entry.
struct Sweep {
    std::string pattern;
    std::vector<std::uint64_t> values;
    ValueUnit values_unit = ValueUnit::of_parameter;
    ChosenLaunch launch;
    // Options of several values, which take the place of what `launch` says.
    std::vector<Axis> axes;         // of the launch and the pattern
    std::vector<Axis> memory_axes;  // settings of memory: what these cost is compared
    std::vector<Machine> machines;
    // Of several GPUs the one that measures: a parameter of its points.
    std::optional<int> device;
    // The pitch in bytes of rows of so many bytes on the device present; none: the usual one.
    std::function<std::uint64_t(std::uint64_t row_bytes)> auto_pitch;
};

// One option as typed. Throws UsageError.
void take_option(Sweep& sweep, std::string_view key, const std::string& text);
// The values of the pattern's parameter: numbers count what the pattern takes, sizes are bytes.
// Without a text its own range. After the types. Throws UsageError naming `option`.
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

}  // namespace coalprof
