// A sweep: the values of a pattern's parameter and of the settings that take lists, as one point
// for each combination.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/pattern/catalog.h"
#include "core/sweep/axis.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// What plain numbers of a parameter count, where that is not what the pattern takes.
enum class ValueUnit : std::uint8_t { of_parameter, elements, bytes };

// What the user asked for; every list but `dlcm` and `axes` holds at least one entry.
struct Sweep {
    std::string pattern;
    std::vector<std::uint64_t> values;
    ValueUnit values_unit = ValueUnit::of_parameter;
    std::optional<Op> op;  // none: the pattern's own
    ElementType type = ElementType::f32;
    LaunchShape shape;
    PatternOptions options;
    std::vector<Axis> axes;  // each of several values, which take the place of the members above
    std::vector<LoadModifier> dlcm;  // empty: what each machine does without the option
    std::vector<StoreModifier> dscm{StoreModifier::wb};
    std::vector<std::optional<Carveout>> carveouts{std::nullopt};
    std::vector<std::optional<std::uint32_t>> l2_fetch_bytes{std::nullopt};
    std::vector<Allocation> allocations{Allocation::device};
    std::vector<LoadPath> paths{LoadPath::ld};
    std::vector<Machine> machines;
    // Of several GPUs the one that measures: a parameter of its points.
    std::optional<int> device;
    // The pitch in bytes of rows of so many bytes on the device present; none: the usual one.
    std::function<std::uint64_t(std::uint64_t row_bytes)> auto_pitch;
};

// One combination of the settings that take lists.
struct SweptSettings {
    std::size_t machine = 0;  // of Sweep::machines
    CachePolicy cache;
    Allocation allocation = Allocation::device;
    LoadPath path = LoadPath::ld;
};

// The parameter varies fastest, then the axes, then settings and machines.
class SweepPoints : public SweptPoints {
 public:
    // Throws UsageError for more than most_range_points points, which are counted and not expanded,
    // and for an unknown pattern.
    explicit SweepPoints(Sweep sweep);
    std::uint64_t count() const override { return settings_.size() * launches_; }
    bool compares_settings() const override;
    void make(PlannedPoint& point) const override;

 private:
    Sweep sweep_;
    const PatternInfo& pattern_;
    std::uint64_t launches_ = 0;  // combinations of the parameter and the axes
    std::vector<SweptSettings> settings_;
};

// The head's description of the sweep: pattern, parameter, op, type, sizes and single settings.
SweepFacts describe_sweep(const Sweep& sweep);

}  // namespace coalprof
